"""`reprobe lsp` as an editor talks to it."""
import json
import subprocess
import unittest

from command import CLOCK_SEED, FIXED_SEED, Folder, HAVE_SCAN, REPROBE, TORCH

FLAGS = ("#include \"third_party/torch.h\"\n\n"
         "int main() {\n  /* 𝄞ü */ at::globalContext().setDeterministicAlgorithms(true, true);\n}\n")


class Editor:
    def __init__(self, folder, environment, *options):
        self.server = subprocess.Popen([REPROBE, "lsp", *options], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0
        self.unclaimed = []

    def send_bytes(self, data):
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def send(self, **message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text)

    def receive(self):
        length = None
        while (line := self.server.stdout.readline()) not in (b"\r\n", b""):
            name, value = line.decode().split(":")
            if name.lower() == "content-length":
                length = int(value)
        assert length is not None, "the server is gone"
        return json.loads(self.server.stdout.read(length))

    def request(self, method, params=None):
        self.next_id += 1
        self.send(id=self.next_id, method=method, params=params or {})
        while (message := self.receive()).get("id") != self.next_id or "method" in message:
            self.unclaimed.append(message)
        return message

    def notify(self, method, **params):
        self.send(method=method, params=params)

    def diagnostics(self, uri):
        while True:
            for message in [self.unclaimed.pop(0)] if self.unclaimed else [self.receive()]:
                if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                    return message["params"]["diagnostics"]

    def open(self, path, text, version=1):
        self.notify("textDocument/didOpen", textDocument={"uri": path.as_uri(), "languageId": "cpp", "version": version, "text": text})

    def stop(self):
        self.request("shutdown")
        self.send(method="exit")
        code = self.server.wait(timeout=30)
        self.server.stdin.close()
        self.server.stdout.close()
        return code


@unittest.skipUnless(HAVE_SCAN, "no scan half in this build")
class LanguageServer(Folder):
    def setUp(self):
        super().setUp()
        self.root.mkdir()
        self.editor = None

    def tearDown(self):
        if self.editor:
            self.editor.server.kill()
            self.editor.server.wait()
            self.editor.server.stdin.close()
            self.editor.server.stdout.close()
        super().tearDown()

    def start(self, *options, capabilities=None):
        self.editor = Editor(self.root, self.environment, *options)
        reply = self.editor.request("initialize", {"rootUri": self.root.as_uri(), "capabilities": capabilities or {}})
        self.editor.notify("initialized")
        return reply["result"]

    def test_unsaved_text_is_diagnosed_on_open_and_again_on_save(self):
        self.assertEqual(self.start()["serverInfo"]["name"], "reprobe")
        path = self.write("with space.cpp", FIXED_SEED)
        self.editor.open(path, CLOCK_SEED)
        found = self.editor.diagnostics(path.as_uri())
        self.assertEqual([d["code"] for d in found], ["entropy-seed"])
        self.assertEqual(found[0]["range"]["start"], {"line": 3, "character": 2})
        self.assertEqual(found[0]["source"], "reprobe")
        self.editor.notify("textDocument/didChange", textDocument={"uri": path.as_uri(), "version": 2}, contentChanges=[{"text": FIXED_SEED}])
        self.editor.notify("textDocument/didSave", textDocument={"uri": path.as_uri()})
        self.assertEqual(self.editor.diagnostics(path.as_uri()), [])
        self.editor.notify("textDocument/didClose", textDocument={"uri": path.as_uri()})
        self.assertEqual(self.editor.diagnostics(path.as_uri()), [])
        self.assertEqual(self.editor.stop(), 0)

    def test_hover_shows_the_rule_s_page(self):
        self.start()
        path = self.write("a.cpp", CLOCK_SEED)
        self.editor.open(path, CLOCK_SEED)
        self.editor.diagnostics(path.as_uri())
        place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 3, "character": 4}}
        contents = self.editor.request("textDocument/hover", place)["result"]["contents"]
        self.assertEqual(contents["kind"], "markdown")
        self.assertIn("## Fix", contents["value"])
        place["position"]["line"] = 0
        self.assertIsNone(self.editor.request("textDocument/hover", place)["result"])

    def quick_fix(self, capabilities):
        encoding = self.start(capabilities=capabilities)["capabilities"]["positionEncoding"]
        self.write("third_party/torch.h", TORCH)
        path = self.write("flags.cpp", FLAGS)
        uri = path.as_uri()
        self.editor.open(path, FLAGS)
        found = self.editor.diagnostics(uri)
        self.assertEqual([d["code"] for d in found], ["warn-only"])
        asked = {"textDocument": {"uri": uri}, "range": found[0]["range"], "context": {"diagnostics": found}}
        actions = self.editor.request("textDocument/codeAction", asked)["result"]
        edit = actions[0]["edit"]["changes"][uri][0]
        line = FLAGS.splitlines()[3]
        coding = "utf-8" if encoding == "utf-8" else "utf-16-le"
        unit = 1 if encoding == "utf-8" else 2
        units = line.encode(coding)
        begin, end = (edit["range"][at]["character"] * unit for at in ("start", "end"))
        self.assertEqual((units[:begin] + edit["newText"].encode(coding) + units[end:]).decode(coding), line.replace("(true, true)", "(true, false)"))
        self.editor.notify("textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"text": "\n" + FLAGS}])
        self.assertEqual(self.editor.request("textDocument/codeAction", asked)["result"], [])  # places of an older text
        return encoding

    def test_a_fix_is_an_edit_in_the_units_agreed_on(self):
        self.assertEqual(self.quick_fix({}), "utf-16")
        self.assertEqual(self.editor.stop(), 0)
        self.assertEqual(self.quick_fix({"general": {"positionEncodings": ["utf-16", "utf-8"]}}), "utf-8")

    def test_broken_messages_are_answered_and_survived(self):
        self.start()
        for text, code in ((b"{", -32700), (b"[]", -32600), (b"{\"id\": 7, \"method\": 3}", -32600), (b"{\"id\": 8}", -32600)):
            self.editor.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text)
            self.assertEqual(self.editor.receive()["error"]["code"], code, text)
        self.editor.send_bytes(b"Content-Type: x\r\n\r\n")  # no length: skipped
        self.assertEqual(self.editor.request("no/suchMethod")["error"]["code"], -32601)
        self.assertEqual(self.editor.request("textDocument/hover", {"position": 3})["error"]["code"], -32602)
        self.editor.notify("textDocument/didOpen", textDocument={"uri": 3})
        self.editor.notify("textDocument/didSave")
        self.editor.notify("$/cancelRequest", id=1)
        self.editor.notify("textDocument/didChange", textDocument={"uri": "file:///none"}, contentChanges=[{"text": ""}])
        self.editor.notify("textDocument/didOpen", textDocument={"uri": "untitled:1", "text": "", "version": 1})
        self.assertEqual(self.editor.stop(), 0)

    def test_order_of_life(self):
        self.editor = Editor(self.root, self.environment)
        self.assertEqual(self.editor.request("shutdown")["error"]["code"], -32002)
        self.editor.send(method="exit")
        self.assertEqual(self.editor.server.wait(timeout=30), 1)

    def test_a_message_in_pieces(self):
        self.start()
        text = json.dumps({"jsonrpc": "2.0", "id": "x", "method": "shutdown"}).encode()
        for byte in b"Content-Length: %d\r\n\r\n" % len(text) + text:
            self.editor.send_bytes(bytes([byte]))
        self.assertEqual(self.editor.receive(), {"jsonrpc": "2.0", "id": "x", "result": None})

    def test_a_long_scan_delays_no_answer_and_ends_with_its_document(self):
        self.start()
        slow = self.write("slow.cpp", "".join(f"int f{i}() {{ return {i}; }}\n" for i in range(200000)))
        self.editor.open(slow, slow.read_text())
        place = {"textDocument": {"uri": slow.as_uri()}, "position": {"line": 0, "character": 0}}
        self.assertIsNone(self.editor.request("textDocument/hover", place)["result"])
        self.editor.notify("textDocument/didClose", textDocument={"uri": slow.as_uri()})
        quick = self.write("quick.cpp", CLOCK_SEED)
        self.editor.open(quick, CLOCK_SEED)
        self.assertEqual(len(self.editor.diagnostics(quick.as_uri())), 1)
        self.assertEqual([m for m in self.editor.unclaimed if m.get("params", {}).get("uri") == slow.as_uri() and m["params"]["diagnostics"]], [])
        self.assertEqual(self.editor.stop(), 0)


if __name__ == "__main__":
    unittest.main()
