@_exported import LarderTestSupport
