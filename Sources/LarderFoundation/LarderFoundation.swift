@_exported public import Larder
