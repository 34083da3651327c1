import type { CommandModule } from 'yargs';
import { z } from 'zod';
import * as flags from '../flags/flags.ts';
import { suggestion } from '../../platform/suggest.ts';
import { terminalOf } from '../output/terminal.ts';
import { UsageError } from '../flags/usage-error.ts';

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
      }).epilogue(`Examples:
  sandbox-kit explain           all requirements
  sandbox-kit explain CHAT-024  one of them, and the faults that it catches
  sandbox-kit explain users     those of an area
  sandbox-kit explain 2.8.7     those that cover a statement`),
  handler: async (argv) => {
    const { id = '' } = flags.parseFlags(explainFlags, argv);
    const judge = await import('../../../conformance/index.ts');
    const out = terminalOf(process.stdout);
    const text = await judge.explanation(id, out);
    if (text === undefined) {
      const otherwise = 'sandbox-kit explain lists all requirements';
      const known = [...judge.areas, ...judge.serviceArea, ...judge.requirementIds];
      const meant = suggestion(id, [...known, ...judge.serviceRequirementIds], otherwise);
      throw new UsageError(`ID: nothing is called ${JSON.stringify(id)}: ${meant}`);
    }
    out.write(text);
  },
};
