import { defineCommand, optionalArgument } from '../command.ts';
import { completionScript, completionShells } from '../completion-scripts.ts';
import { exitCodes } from '../errors.ts';
import * as values from '../../src/options/values.ts';

export const completion = defineCommand({
  description: [
    'The script completes commands, options, and values in bash and zsh. It calls sandbox-kit, so the directory of sandbox-kit must be in PATH.',
  ],
  arguments: {
    shell: optionalArgument(values.oneOf(completionShells), 'bash or zsh (default: from $SHELL)'),
  },
  options: {},
  examples: [
    { command: 'sandbox-kit completion bash >> ~/.bashrc' },
    { command: 'sandbox-kit completion zsh >> ~/.zshrc' },
  ],
  run({ shell }, { process: { env, stdout } }) {
    const usersShell = env['SHELL']?.includes('zsh') ? 'zsh' : 'bash';
    stdout.write(completionScript(shell ?? usersShell));
    return exitCodes.ok;
  },
});
