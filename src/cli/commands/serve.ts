import { serviceApiKeyHeader } from '../../contract/index.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { stderrLog } from '../../platform/log.ts';
import * as flags from '../flags/flags.ts';
import { modelFrom } from '../flags/model-from.ts';
import { mutantJudge } from './mutant-judge.ts';
import { seedTeller } from '../output/seed-progress.ts';
import { untilStopped } from '../signals.ts';
import { speechFrom } from '../flags/speech-from.ts';
import { terminalOf } from '../output/terminal.ts';
import { UsageError } from '../flags/usage-error.ts';

const PORT = 9090;

const serveFlags = z.object({
  host: z.string({ error: 'expected one address' }).min(1, 'expected an address'),
  port: flags.wholeNumber(0, 65_535).optional(),
  data: flags.filePath.optional(),
  json: z.boolean(),
  'api-key-file': flags.filePath.optional(),
  'api-key-header': flags.headerName,
  'seed-file': flags.filePath.optional(),
  seed: flags.seed.optional(),
  'app-url': flags.pagesUrl.optional(),
  mutant: flags.word.optional(),
  'log-level': flags.logLevel,
});

type ServeFlags = z.infer<typeof serveFlags>;

/** What of the flags `startService` needs. */
export type ServiceFlags = { port: number } & Pick<
  ServeFlags,
  | 'host'
  | 'data'
  | 'api-key-file'
  | 'api-key-header'
  | 'seed-file'
  | 'seed'
  | 'app-url'
  | 'log-level'
>;

type ServiceWing = typeof import('../../service/index.ts');
type RunningService = Awaited<ReturnType<ServiceWing['startService']>>;

const EPILOGUE = `Examples:
  sandbox-kit serve --data ./service
  sandbox-kit serve --port 0 --json
  sandbox-kit serve --seed-file demo.yaml
  sandbox-kit serve --mutant service/traces-202

sandbox-kit selftest --list shows all mutants.

A model that judges: SANDBOX_KIT_JUDGE_URL, _MODEL and _API_KEY, of any
OpenAI-compatible endpoint; one that plays users: SANDBOX_KIT_USER_URL, ...;
one that speaks their lines: SANDBOX_KIT_SPEECH_URL, ... The service's own key:
SANDBOX_KIT_SERVICE_API_KEY, or --api-key-file; on loopback one is made.
With --json the first line of stdout is {"url","apiKey","appUrl","adminUrl"}.`;

/** `sandbox-kit serve`: the whole service on this machine. */
export const serveVerb: CommandModule = {
  command: 'serve',
  describe: 'Run the service: take in traces, close, score, read results',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit serve\n\nRuns the service on this machine until it is stopped.')
      .option('port', { type: 'number', describe: `${PORT} when left out; 0 takes a free one` })
      .option('host', { type: 'string', default: '127.0.0.1', describe: 'where to listen' })
      .option('data', { type: 'string', describe: 'folder to keep everything in' })
      .option('json', { type: 'boolean', default: false, describe: 'say address and key as JSON' })
      .option('api-key-file', { type: 'string', describe: 'file with the key to take' })
      .option('api-key-header', {
        type: 'string',
        default: serviceApiKeyHeader,
        describe: 'header that carries it',
      })
      .option('seed-file', { type: 'string', describe: 'what it holds at start, YAML or JSON' })
      .option('seed', { type: 'string', describe: 'all ids follow from it' })
      .option('mutant', { type: 'string', describe: 'break one rule, on a port of its own' })
      .option('app-url', { type: 'string', describe: 'base of deep links' })
      .option('log-level', { type: 'string', default: 'warn', describe: flags.LOG_LEVELS })
      .epilogue(EPILOGUE),
  handler: async (argv) => {
    const given = flags.parseFlags(serveFlags, argv);
    const judge = given.mutant === undefined ? undefined : await mutantJudge(given, 'service');
    // A long seed takes a while, and whoever stops it leaves nothing behind.
    const stopped = untilStopped();
    const service = await startFrom({ ...given, port: given.port ?? (judge ? 0 : PORT) });
    const mutant = await judge?.startMutant(given.mutant ?? '', service.url);
    try {
      introduce(
        { ...service, ...(mutant && { url: mutant.url, breaks: mutant.description }) },
        given,
      );
      await stopped;
    } finally {
      await mutant?.stop();
      await service.stop();
    }
  },
};

/**
 * Starts a service as the flags and the environment say.
 *
 * @throws {UsageError} when it can't be started like that.
 */
export async function startFrom(given: ServiceFlags): Promise<RunningService> {
  const seeding = seedTeller();
  const seed = seeding.read(given['seed-file']);
  const key = flags.serviceKey(given['api-key-file']);
  if (key === undefined && !isLoopbackHost(given.host)) {
    throw new UsageError(
      `--host: a service on ${given.host} can be reached by others: give it a key in SANDBOX_KIT_SERVICE_API_KEY, or with --api-key-file.`,
    );
  }
  const judge = modelFrom('JUDGE');
  const userModel = modelFrom('USER');
  const speech = speechFrom();
  const wing = await import('../../service/index.ts');
  try {
    return await wing.startService({
      host: given.host,
      port: given.port,
      log: stderrLog(given['log-level']),
      apiKeyHeader: given['api-key-header'],
      keys: key === undefined ? [] : [{ key }],
      ...(given.data === undefined ? {} : { dataDir: given.data }),
      ...(given.seed === undefined ? {} : { chanceSeed: given.seed }),
      ...(given['app-url'] === undefined ? {} : { appUrl: given['app-url'] }),
      ...(seed === undefined ? {} : { seed: seed.document, onSeedProgress: seeding.tell }),
      ...(judge === undefined ? {} : { judge }),
      ...(userModel === undefined ? {} : { userModel }),
      ...(speech === undefined ? {} : { speech }),
    });
  } catch (error) {
    if (!(error instanceof wing.StartError)) throw error;
    if (seed && error.seedPointer !== undefined) {
      throw seed.misfit(error.seedPointer, error.message, error.relatedSeedPointer);
    }
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE') {
      throw new UsageError(
        `--port: ${given.port} is in use on ${given.host}; --port 0 takes a free one.`,
      );
    }
    throw new UsageError(`The service can't start: ${error.message}.`);
  } finally {
    seeding.end();
  }
}

/** The variables that make OpenTelemetry's exporters send to a service. */
export function exporterVariables(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  apiKeyHeader: string,
): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `${apiKeyHeader}=${encodeURIComponent(apiKey)}`,
  };
}

function introduce(service: RunningService & { breaks?: string }, given: ServeFlags): void {
  const { url, apiKey, appUrl, adminUrl, breaks } = service;
  if (given.json) {
    process.stdout.write(`${JSON.stringify({ url, apiKey, appUrl, adminUrl })}\n`);
    return;
  }
  const out = terminalOf(process.stdout);
  const variables = Object.entries(exporterVariables(service, given['api-key-header']));
  out.write(
    [
      `The ${breaks === undefined ? 'service' : 'mutant'} listens at ${out.style('bold', url)}`,
      ...(breaks === undefined ? [] : [`  breaks   ${breaks}`]),
      `  key      ${apiKey}`,
      `  control  ${adminUrl}`,
      `  data     ${given.data ?? 'kept until the stop; --data FOLDER keeps it for good'}`,
      '',
      'Send it the traces of your agent:',
      ...variables.map(([name, value]) => `  export ${name}=${value}`),
      '',
      'Close a conversation, and read the results:',
      `  curl -X POST -H '${given['api-key-header']}: ${apiKey}' \\`,
      `    ${url}/v1/sessions/CONVERSATION_ID/end`,
      `  curl -H '${given['api-key-header']}: ${apiKey}' \\`,
      `    ${url}/api/prod-evaluations/sessions/`,
      '',
      'Nothing appears? sandbox-kit lint-traces FILE, or',
      `  ${adminUrl}/ingest-log`,
      'Stop it with Ctrl-C.',
      '',
    ].join('\n'),
  );
}
