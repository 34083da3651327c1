import type { StartRecordingService } from '../../conformance/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { defineCommand } from '../command.ts';
import { didYouMean, exitCodes, UsageError } from '../errors.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { jsonReport } from '../../src/options/shared.ts';
import { option, switchOption } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { kitVersion } from '../../library/kit-version.ts';
import { writeJsonOutput } from '../output/files.ts';
import { openOutputs } from '../output/outputs.ts';
import { createStepProgress } from '../output/progress.ts';
import { createTerminal } from '../output/terminal.ts';
import { createRunningServers, type RunningServers } from '../runs/running-servers.ts';

export const selftest = defineCommand({
  description: [
    'Checks the reference agent and the service through a proxy that breaks one requirement at a time, judges a client of the service in the same way, and shows which requirement detects which fault.',
  ],
  arguments: {},
  options: {
    area: option(
      values.anyAreas,
      'AREAS',
      'Areas, comma-separated: chat, health, users, voice, service, client',
      'all',
    ),
    only: option(values.text, 'TEXT', 'Run only the ids that contain this text'),
    list: switchOption('List what would run; runs nothing'),
    json: { ...jsonReport, help: 'Write the result as JSON; - for stdout' },
  },
  examples: [
    { command: 'sandbox-kit selftest' },
    { command: 'sandbox-kit selftest --area service' },
    { command: 'sandbox-kit selftest --area client' },
    { command: 'sandbox-kit selftest --only chat/content' },
    { command: 'sandbox-kit selftest --list --only users/' },
  ],
  exitCodes: { 0: 'all faults detected', 1: 'a fault was missed, or a finding was wrong' },
  async run({ area, only, list, json }, { process }) {
    const conformance = await import('../../conformance/index.ts');
    const selection = { areas: area, only };
    const total = await conformance.selftestSize(selection);
    if (total === 0) {
      const ids = await conformance.selftestIds({ areas: area });
      throw new UsageError(
        `No id ${area ? `of ${formatList(area)} (--area) ` : ''}contains ${JSON.stringify(only)} (--only). ${suggestId(ids, only)}`,
      );
    }
    if (list) {
      const out = createTerminal(process.stdout, process.env);
      out.write(await conformance.peerList(selection, out));
      return exitCodes.ok;
    }
    const out = openOutputs({ json }, process);
    const progress = createStepProgress(createTerminal(process.stderr, process.env), systemClock, {
      total,
      unit: 'peers',
    });
    const servers = createRunningServers();
    const runSelftest = async () =>
      conformance.selftest({
        ...selection,
        ...(await startTargets(await conformance.selftestNeeds(selection), servers)),
        startRecordingService,
        kitVersion: kitVersion(),
        onResult: ({ id }) => progress.step(id),
      });
    const result = await runSelftest().finally(async () => {
      progress.end();
      await servers.stop();
    });
    out.write(conformance.selftestText(result, out));
    if (json !== undefined) writeJsonOutput(json, result, process.stdout);
    return result.ok ? exitCodes.ok : exitCodes.findings;
  },
});

/** Suggests an id, or the part of one after the area, because `--only` takes a part of an id. */
function suggestId(ids: readonly string[], only = ''): string {
  const known = [...ids, ...ids.map((id) => id.slice(id.lastIndexOf('/') + 1))];
  return didYouMean(only, known, 'Run sandbox-kit selftest --list to list all.');
}

const startRecordingService: StartRecordingService = async (options) => {
  const { startService } = await import('../../src/service/index.ts');
  return startService({ ...options, recordCallers: true });
};

/** Starts the servers behind the proxies, and returns their addresses. */
async function startTargets(
  needs: { sandbox: boolean; service: boolean },
  servers: RunningServers,
): Promise<{ url?: string; serviceUrl?: string; serviceApiKey?: string }> {
  const { startAgent } = await import('../../reference-agent/index.ts');
  const agent = needs.sandbox ? servers.add(await startAgent()) : undefined;
  const { startService } = await import('../../src/service/index.ts');
  const service = needs.service ? servers.add(await startService()) : undefined;
  return {
    ...(agent && { url: agent.url }),
    ...(service && { serviceUrl: service.url, serviceApiKey: service.apiKey }),
  };
}
