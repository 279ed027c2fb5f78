// `import Larder` exports the public types of the layers below as well.
@_exported public import LarderBasics
@_exported public import LarderDisk
@_exported public import LarderMemory
@_exported public import LarderSystem
