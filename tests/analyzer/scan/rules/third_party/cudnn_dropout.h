// Names of the library's header, so that tests need none.
#pragma once
extern "C" int cudnnSetDropoutDescriptor(void*, void*, float, void*, unsigned long, unsigned long long);
