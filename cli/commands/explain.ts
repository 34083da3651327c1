import * as z from 'zod';
import { defineCommand, optionalArgument } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { createTerminal } from '../output/terminal.ts';

export const explain = defineCommand({
  arguments: {
    id: optionalArgument(
      z.string().describe('a requirement, an area, or a statement'),
      'A requirement such as CHAT-024, an area, or a statement such as 2.8.7',
    ),
  },
  options: {},
  examples: [
    { note: 'List all requirements', command: 'sandbox-kit explain' },
    {
      note: 'Explain one, with the mutants that it detects',
      command: 'sandbox-kit explain CHAT-024',
    },
    { note: 'List the requirements of an area', command: 'sandbox-kit explain users' },
    { note: 'List the requirements of a statement', command: 'sandbox-kit explain 2.8.7' },
  ],
  async run({ id = '' }, { process: { stdout, env } }) {
    const conformance = await import('../../conformance/index.ts');
    const out = createTerminal(stdout, env);
    const text = conformance.explanation(id, out);
    if (text === undefined) {
      const known = [...conformance.allAreas, ...conformance.allRequirementIds];
      throw new UsageError(
        `Unknown requirement ${JSON.stringify(id)}. ${conformance.suggestRequirement(id, known)}`,
      );
    }
    out.write(text);
    return exitCodes.ok;
  },
});
