import Larder

CommandProcess.prepare()
CommandProcess.exit(Command.run(ProcessArguments.raw, Console()))
