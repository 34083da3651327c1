import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { systemClock } from '../shared/clock.ts';
import { writeTextFile } from './files.ts';
import * as flags from './flags.ts';
import { kitVersion } from './kit-version.ts';
import { openOutputs } from './outputs.ts';
import { progress } from './progress.ts';
import { terminalOf } from './terminal.ts';
import { exitCodes, UsageError } from './usage-error.ts';

const selftestFlags = z.object({
  json: flags.filePath.optional(),
  only: flags.word.optional(),
  list: z.boolean(),
});

/** `sandbox-kit selftest`: prove the judge against sandboxes that are known to be right or wrong. */
export const selftestVerb: CommandModule = {
  command: 'selftest',
  describe: 'Prove the judge itself: it must catch every planted fault',
  builder: (yargs) =>
    yargs
      .usage(
        'sandbox-kit selftest\n\nChecks the reference agent through a proxy that breaks one rule at a time,\nand shows which requirement catches which fault.',
      )
      .option('only', { type: 'string', describe: 'only ids that contain this text' })
      .option('json', { type: 'string', describe: 'write the matrix as JSON; - is stdout' })
      .option('list', { type: 'boolean', default: false, describe: 'show what would be run' })
      .epilogue(`Examples:
  sandbox-kit selftest
  sandbox-kit selftest --only chat/content
  sandbox-kit selftest --list --only users/`),
  handler: async (argv) => {
    const given = flags.parseFlags(selftestFlags, argv);
    const judge = await import('../../conformance/index.ts');
    const total = await judge.selftestSize(given.only);
    if (total === 0) {
      const all = 'sandbox-kit selftest --list shows all';
      throw new UsageError(`--only: no id contains ${JSON.stringify(given.only)}: ${all}`);
    }
    if (given.list) {
      const out = terminalOf(process.stdout);
      out.write(await judge.peerList(given.only ?? '', out));
      return;
    }
    const { startAgent } = await import('../../reference-agent/index.ts');
    const out = openOutputs({ json: given.json });
    const agent = await startAgent();
    const shown = progress(terminalOf(process.stderr), systemClock, total, 'peers');
    const result = await judge
      .selftest({
        url: agent.url,
        kitVersion: kitVersion(),
        onResult: ({ id }) => shown.step(id),
        ...(given.only === undefined ? {} : { only: given.only }),
      })
      .finally(() => agent.stop());
    shown.end();
    out.write(judge.selftestText(result, out));
    if (given.json !== undefined) {
      writeTextFile(given.json, `${JSON.stringify(result, null, 2)}\n`, '--json');
    }
    process.exitCode = result.ok ? exitCodes.fine : exitCodes.findings;
  },
};
