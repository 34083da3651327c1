import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import { writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { openOutputs } from '../output/outputs.ts';
import { progress } from '../output/progress.ts';
import { terminalOf } from '../output/terminal.ts';
import { exitCodes, UsageError } from '../flags/usage-error.ts';

const selftestFlags = z.object({
  area: flags.everyArea.optional(),
  json: flags.filePath.optional(),
  only: flags.word.optional(),
  list: z.boolean(),
});

const USAGE = `sandbox-kit selftest

Checks the reference agent and our service through a proxy that breaks one rule
at a time, and shows which requirement catches which fault.`;

/** `sandbox-kit selftest`: prove the judge against what is known to be right or wrong. */
export const selftestVerb: CommandModule = {
  command: 'selftest',
  describe: 'Prove the judge itself: it must catch every planted fault',
  builder: (yargs) =>
    yargs
      .usage(USAGE)
      .option('area', { type: 'string', describe: 'only these: chat,health,users,voice,service' })
      .option('only', { type: 'string', describe: 'only ids that contain this text' })
      .option('json', { type: 'string', describe: 'write the matrix as JSON; - is stdout' })
      .option('list', { type: 'boolean', default: false, describe: 'show what would be run' })
      .epilogue(`Examples:
  sandbox-kit selftest
  sandbox-kit selftest --area service
  sandbox-kit selftest --only chat/content
  sandbox-kit selftest --list --only users/`),
  handler: async (argv) => {
    const given = flags.parseFlags(selftestFlags, argv);
    const judge = await import('../../../conformance/index.ts');
    const choice = { areas: given.area, only: given.only };
    const total = await judge.selftestSize(choice);
    if (total === 0) {
      const all = 'sandbox-kit selftest --list shows all';
      throw new UsageError(`--only: no id contains ${JSON.stringify(given.only)}: ${all}`);
    }
    if (given.list) {
      const out = terminalOf(process.stdout);
      out.write(await judge.peerList(choice, out));
      return;
    }
    const out = openOutputs({ json: given.json });
    const shown = progress(terminalOf(process.stderr), systemClock, total, 'peers');
    const made = await startNeeded(await judge.selftestNeeds(choice));
    const result = await judge
      .selftest({
        ...choice,
        ...made.addresses,
        kitVersion: kitVersion(),
        onResult: ({ id }) => shown.step(id),
      })
      .finally(() => made.stop());
    shown.end();
    out.write(judge.selftestText(result, out));
    if (given.json !== undefined) {
      writeTextFile(given.json, `${JSON.stringify(result, null, 2)}\n`, '--json');
    }
    process.exitCode = result.ok ? exitCodes.fine : exitCodes.findings;
  },
};

/** What the mutants are made of, as a self-test wants it. */
interface Needed {
  addresses: { url?: string; serviceUrl?: string; serviceApiKey?: string };
  stop: () => Promise<void>;
}

async function startNeeded(needs: { sandbox: boolean; service: boolean }): Promise<Needed> {
  const addresses: Needed['addresses'] = {};
  const started: { stop: () => Promise<void> }[] = [];
  if (needs.sandbox) {
    const { startAgent } = await import('../../../reference-agent/index.ts');
    const agent = await startAgent();
    started.push(agent);
    addresses.url = agent.url;
  }
  if (needs.service) {
    const { startService } = await import('../../service/index.ts');
    const service = await startService();
    started.push(service);
    addresses.serviceUrl = service.url;
    addresses.serviceApiKey = service.apiKey;
  }
  return {
    addresses,
    async stop() {
      for (const one of started) await one.stop();
    },
  };
}
