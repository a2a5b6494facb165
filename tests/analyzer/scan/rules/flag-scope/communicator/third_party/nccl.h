#pragma once
struct ncclComm;
extern "C" int ncclCommInitAll(ncclComm** communicators, int count, const int* devices);
