import type { CommandModule } from 'yargs';
import { z } from 'zod';
import * as flags from './flags.ts';
import { terminalOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const explainFlags = z.object({ id: z.string().optional() });

/** `sandbox-kit explain ID`: what a requirement asks, and why. */
export const explainVerb: CommandModule = {
  command: 'explain [id]',
  describe: 'Explain a requirement, or list all of them',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit explain [ID]\n\nExplains a requirement, or lists all of them.')
      .positional('id', {
        type: 'string',
        describe: 'CHAT-024, an area, or a statement such as 2.8.7',
      })
      .example('sandbox-kit explain CHAT-024', '')
      .example('sandbox-kit explain users', '')
      .example('sandbox-kit explain 2.8.7', ''),
  handler: async (argv) => {
    const { id = '' } = flags.parseFlags(explainFlags, argv);
    const judge = await import('../../conformance/index.ts');
    const out = terminalOf(process.stdout);
    const text = await judge.explanation(id, out);
    if (text === undefined) {
      throw new UsageError(
        `ID: nothing is called ${JSON.stringify(id)}; sandbox-kit explain lists all requirements.`,
      );
    }
    out.write(text);
  },
};
