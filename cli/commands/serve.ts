import type { RunningService } from '../../src/service/index.ts';
import { PORT, serviceOptions } from '../../src/service/options.ts';
import type { FlagValues } from '../../src/options/table.ts';
import { formatDuration } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { isLoopbackHost, isLoopbackUrl } from '../../src/platform/loopback.ts';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { hasDatabaseVariable, hintDatabase, readDatabaseUrl } from '../input/database-url.ts';
import { announceStop } from '../output/announce-stop.ts';
import { formatFact } from '../output/facts.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { describeExit, listenForStop } from '../signals.ts';
import { prepareMutant } from '../runs/mutant.ts';
import { createRunningServers } from '../runs/running-servers.ts';
import { startServiceFor } from '../runs/start-service.ts';

type ServeValues = FlagValues<typeof serviceOptions>;

export const serve = defineCommand({
  description: [
    'The service ingests traces, closes conversations, scores them, runs simulations, and serves results and pages. It runs until you press Ctrl-C, and then finishes the open requests within 5 s.',
  ],
  arguments: {},
  options: serviceOptions,
  examples: [
    { command: 'sandbox-kit serve --data ./service' },
    { command: 'sandbox-kit serve --port 0 --json' },
    { command: "sandbox-kit serve --database 'postgres://kit@db/kit?sslmode=verify-full'" },
    { command: 'sandbox-kit serve --seed-file demo.yaml' },
    {
      note: 'List mutants with sandbox-kit selftest --list',
      command: 'sandbox-kit serve --mutant service/traces-202',
    },
  ],
  exitCodes: {
    0: 'stopped by a signal',
    2: 'wrong options, or a wrong database URL, password, or role',
    3: 'the database was unreachable, busy, or full at the start',
    130: 'ended by a second Ctrl-C',
    143: 'ended by a second SIGTERM',
  },
  notes: ['With --json, the first line of stdout is {"url":…,"apiKey":…,"appUrl":…,"adminUrl":…}.'],
  hintUnexpected: (word) =>
    /\.(ya?ml|json)$/i.test(word) ? `Did you mean --seed-file ${word}?` : hintDatabase(word),
  async run(values, { process }) {
    const startMutant = await prepareMutant(values, 'service');
    // Listen for signals first: stopping while the seed data loads must clean up, too.
    using stop = listenForStop(process);
    const servers = createRunningServers();
    let findLoss: (() => string | undefined) | undefined;
    let loss: string | undefined;
    try {
      // A mutant listens at the port itself.
      const port = startMutant ? 0 : (values.port ?? PORT);
      const service = servers.add(await startServiceFor({ ...values, port }, process));
      findLoss = await watchForLoss(values);
      const mutant = servers.add(await startMutant?.(service.url));
      const replaced = mutant && { url: mutant.url, breaks: mutant.description };
      introduce({ ...service, ...replaced }, values, process);
      const signal = await stop.received;
      if (values.drainMs) {
        const text = `Draining for ${formatDuration(values.drainMs)}.`;
        announceStop(values, `${text} ${describeExit(signal, process)}`, process.stderr);
      }
    } finally {
      // Closing an emptied file fills it again.
      loss = findLoss?.();
      await servers.stop();
      loss ??= findLoss?.();
    }
    const kept = describeKeptData(values, loss, process);
    announceStop(values, `The service stopped${kept}`, process.stderr);
    return exitCodes.ok;
  },
});

/** The pages and `/__admin` accept every program on this machine, also without a key. */
const NO_KEY_NEEDED = ' (no key needed on this machine)';

function describeData(values: ServeValues, process: CommandProcess): string {
  if (readDatabaseUrl(values, process) !== undefined) return 'in the database';
  if (values.dataDir === undefined) return 'deleted when it stops; --data DIR keeps it';
  const isUnused = hasDatabaseVariable(process.env);
  return isUnused ? `${values.dataDir}; SANDBOX_KIT_DATABASE_URL is not used` : values.dataDir;
}

/** Returns a function that finds out whether a data directory lost its database. */
async function watchForLoss({
  dataDir,
}: ServeValues): Promise<(() => string | undefined) | undefined> {
  if (dataDir === undefined) return undefined;
  const { watchDataDir } = await import('../../src/service/index.ts');
  return watchDataDir(dataDir);
}

function describeKeptData(
  values: ServeValues,
  loss: string | undefined,
  process: CommandProcess,
): string {
  if (loss !== undefined) return `. ${loss} Restore the file from a backup.`;
  if (readDatabaseUrl(values, process) !== undefined) return '. Its data is in the database.';
  if (values.dataDir !== undefined) return `. Its data is in ${values.dataDir}.`;
  return ', and its data was deleted. --data DIR keeps it.';
}

/** Describes the addresses of a service that listens on all of them, because its URL names only one. */
function describeHost(url: string, { host, appUrl }: ServeValues, width: number): string[] {
  if (isLoopbackHost(host) || !isLoopbackUrl(url)) return [];
  const { hostname, port } = new URL(url);
  const kind = host.includes(':') ? '' : 'IPv4 ';
  const advice = `Other machines can't use ${hostname}. Set --app-url to the address that they use, such as http://HOST:${port}. The commands below and the deep links then use it.`;
  return [
    ...formatFact('host', `all ${kind}addresses of this machine (${host})`, width),
    ...(appUrl === undefined ? ['', ...wrap(advice, width)] : []),
  ];
}

function introduce(
  service: RunningService & { breaks?: string },
  values: ServeValues,
  process: CommandProcess,
): void {
  const { url, apiKey, appUrl, adminUrl, env, hasLiveEvals, breaks } = service;
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ url, apiKey, appUrl, adminUrl })}\n`);
    return;
  }
  const out = createTerminal(process.stdout, process.env);
  const header = values.apiKeyHeader;
  // Callers elsewhere reach a load balancer or a proxy, but not this replica.
  const callerUrl = values.appUrl === undefined || breaks !== undefined ? url : appUrl;
  const fact = (label: string, text: string): string[] => formatFact(label, text, out.width);
  const lines = [
    `The ${breaks === undefined ? 'service' : 'mutant'} listens at ${out.style('bold', url)}`,
    ...(breaks === undefined ? [] : fact('mutation', breaks)),
    ...fact('API key', apiKey),
    ...fact('admin', isLoopbackHost(values.host) ? `${adminUrl}${NO_KEY_NEEDED}` : adminUrl),
    ...fact('data', describeData(values, process)),
    ...describeHost(url, values, out.width),
    '',
    'Send the traces of your agent:',
    ...Object.entries({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: callerUrl })
      .filter(([name]) => name.startsWith('OTEL_'))
      .map(([name, value]) => `  export ${name}=${value}`),
    '',
    'Close a conversation, and read the results:',
    `  curl -X POST -H '${header}: ${apiKey}' \\`,
    `    ${callerUrl}/v1/sessions/CONVERSATION_ID/end`,
    `  curl -H '${header}: ${apiKey}' \\`,
    `    ${callerUrl}/api/prod-evaluations/sessions/`,
    '',
    ...(hasLiveEvals
      ? []
      : [
          ...wrap(
            'No evals are set, so closed conversations stay unscored. Set them in a browser:',
            out.width,
          ),
          `  ${appUrl}/evals and ${appUrl}/settings`,
        ]),
    'See received data, results, and reasons for missing data:',
    `  ${appUrl}/ in a browser`,
    `  ${out.program} lint-traces FILE`,
    'Press Ctrl-C to stop.',
  ];
  out.write(`${lines.join('\n')}\n`);
}
