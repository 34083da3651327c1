import yargs from 'yargs';
import { defineCommand, optionalArgument } from '../command.ts';
import * as values from '../flags/values.ts';

export const completion = defineCommand({
  description: [
    'The script completes commands, options, and values in bash and zsh. It calls sandbox-kit, so the directory of sandbox-kit must be in PATH.',
  ],
  arguments: {
    shell: optionalArgument(values.oneOf(['bash', 'zsh']), 'bash or zsh (default: from $SHELL)'),
  },
  options: {},
  examples: [
    { command: 'sandbox-kit completion bash >> ~/.bashrc' },
    { command: 'sandbox-kit completion zsh >> ~/.zshrc' },
  ],
  run({ shell }) {
    // yargs chooses the script by this variable.
    if (shell !== undefined) process.env['SHELL'] = `/bin/${shell}`;
    yargs().scriptName('sandbox-kit').showCompletionScript();
  },
});
