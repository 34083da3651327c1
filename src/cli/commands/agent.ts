import { isLoopbackHost } from '../../platform/loopback.ts';
import type { Argv, CommandModule } from 'yargs';
import { z } from 'zod';
import { stderrLog } from '../../platform/log.ts';
import { readTextFile, reserveFile, writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { mutantJudge } from './mutant-judge.ts';
import { untilStopped } from '../signals.ts';
import { terminalOf } from '../output/terminal.ts';
import { UsageError } from '../flags/usage-error.ts';

const PORT = 8080;

const agentFlags = z.object({
  host: flags.word,
  port: flags.wholeNumber(0, 65_535).optional(),
  json: z.boolean(),
  'api-key-file': flags.filePath.optional(),
  open: z.boolean(),
  tls: z.boolean(),
  'ca-out': flags.filePath,
  cert: flags.filePath.optional(),
  key: flags.filePath.optional(),
  seed: flags.seed,
  script: flags.filePath.optional(),
  fault: z.array(flags.word).optional(),
  mutant: flags.word.optional(),
  voice: z.boolean(),
  captions: z.boolean(),
  'media-address': flags.ipAddress.optional(),
  'media-ports': flags.portRange.optional(),
  'hang-over': flags.wholeNumber(20, 10_000).optional(),
  'journal-bodies': z.boolean(),
  'log-level': flags.logLevel,
});

type AgentFlags = z.infer<typeof agentFlags>;
type AgentWing = typeof import('../../../reference-agent/index.ts');

/** `sandbox-kit agent`: a sandbox that obeys the interface, or breaks it on demand. */
export const agentVerb: CommandModule = {
  command: 'agent',
  describe: 'Run a sandbox that obeys the interface, or breaks it on demand',
  builder: (yargs) => voiceOptions(behaviourOptions(listeningOptions(yargs))).epilogue(EPILOGUE),
  handler: async (argv) => {
    await runAgent(flags.parseFlags(agentFlags, argv));
  },
};

function listeningOptions(yargs: Argv): Argv {
  return yargs
    .usage('sandbox-kit agent\n\nRuns the reference sandbox until it is stopped.')
    .option('port', { type: 'number', describe: `${PORT} when left out; 0 takes a free one` })
    .option('host', { type: 'string', default: '127.0.0.1', describe: 'where to listen' })
    .option('json', { type: 'boolean', default: false, describe: 'say address and key as JSON' })
    .option('api-key-file', { type: 'string', describe: 'file with the key to ask for' })
    .option('open', { type: 'boolean', default: false, describe: 'allow others without a key' })
    .option('tls', { type: 'boolean', default: false, describe: 'HTTPS with a new certificate' })
    .option('ca-out', {
      type: 'string',
      default: 'sandbox-kit-ca.pem',
      describe: 'where --tls writes the CA to trust',
    })
    .option('cert', { type: 'string', describe: 'HTTPS with this certificate, PEM' })
    .option('key', { type: 'string', describe: 'the key of --cert, PEM' });
}

function behaviourOptions(yargs: Argv): Argv {
  return yargs
    .option('fault', { type: 'string', array: true, describe: 'show a fault; may be repeated' })
    .option('mutant', { type: 'string', describe: 'break one rule, on a port of its own' })
    .option('script', { type: 'string', describe: 'file with replies of your own, JSON' })
    .option('seed', { type: 'string', default: 'reference', describe: 'all ids follow from it' })
    .option('journal-bodies', {
      type: 'boolean',
      default: false,
      describe: 'remember what was said, for /__admin/requests',
    })
    .option('log-level', {
      type: 'string',
      default: 'warn',
      describe: flags.LOG_LEVELS,
    });
}

function voiceOptions(yargs: Argv): Argv {
  return yargs
    .option('voice', { type: 'boolean', default: true, describe: 'take calls; --no-voice: none' })
    .option('captions', {
      type: 'boolean',
      default: true,
      describe: 'take words beside speech; --no-captions: none',
    })
    .option('media-address', { type: 'string', describe: 'IP for the media; that of --host' })
    .option('media-ports', { type: 'string', describe: 'UDP ports for the media: 40000-40400' })
    .option('hang-over', { type: 'number', describe: 'ms of silence that end a turn; 140' });
}

const EPILOGUE = `Examples:
  sandbox-kit agent --port 0 --json
  sandbox-kit agent --fault "rate_limit;times=3" --fault unhealthy
  sandbox-kit agent --mutant chat/content-null
  sandbox-kit agent --tls --ca-out ca.pem

sandbox-kit selftest --list shows all mutants.
The key to ask for is read from SANDBOX_KIT_API_KEY, or with --api-key-file.
With --json the first line of stdout is {"url":…,"voiceUrl":…,"apiKey":…}.`;

async function runAgent(given: AgentFlags): Promise<void> {
  const judge = given.mutant === undefined ? undefined : await mutantOf(given);
  const wing = await import('../../../reference-agent/index.ts');
  if (given.tls) reserveFile(given['ca-out'], '--ca-out');
  const agent = await start(wing, given);
  const mutant = await judge?.startMutant(given.mutant ?? '', agent.url);
  // Before anybody is told the address: who has it may ask to stop at once.
  const stopped = untilStopped();
  try {
    if (agent.caPem !== null) writeTextFile(given['ca-out'], agent.caPem, '--ca-out');
    // What a mutant breaks shows behind its own address, that of its calls as well.
    const broken = mutant && {
      url: mutant.url,
      breaks: mutant.description,
      voiceUrl: agent.voiceUrl === null ? null : `${mutant.url.replace('http', 'ws')}/voice`,
    };
    introduce({ ...agent, ...broken }, given);
    await stopped;
  } finally {
    await mutant?.stop();
    await agent.stop();
  }
}

/** Says where the agent is: for programs in the first line, for people with what can be done. */
function introduce(
  { url, voiceUrl, apiKey, caPem, breaks }: AgentPlace & { breaks?: string },
  given: AgentFlags,
): void {
  const caFile = caPem === null ? {} : { caFile: given['ca-out'] };
  const voice = voiceUrl === null ? {} : { voiceUrl };
  if (given.json) {
    process.stdout.write(`${JSON.stringify({ url, ...voice, apiKey, ...caFile })}\n`);
    return;
  }
  const out = terminalOf(process.stdout);
  const trust = caPem === null ? '' : ` --ca ${given['ca-out']}`;
  const lines = [
    `The ${breaks === undefined ? 'agent' : 'mutant'} listens at ${out.style('bold', url)}`,
    ...(breaks === undefined ? [] : [`  breaks  ${breaks}`]),
    `  key     ${apiKey === null ? 'none asked for' : 'the one given'}`,
    ...(voiceUrl === null ? [] : [`  voice   ${voiceUrl}`]),
    `  faults  ${url}/__admin/faults`,
    `  check   sandbox-kit check ${url}${trust}`,
    'Stop it with Ctrl-C.',
  ];
  out.write(`${lines.join('\n')}\n`);
}

type AgentPlace = Pick<
  Awaited<ReturnType<AgentWing['startAgent']>>,
  'url' | 'voiceUrl' | 'apiKey' | 'caPem'
>;

async function mutantOf(given: AgentFlags): ReturnType<typeof mutantJudge> {
  const judge = await mutantJudge(given, 'sandbox');
  const { tls, cert, key } = given;
  if (tls || cert !== undefined || key !== undefined) {
    throw new UsageError('--mutant speaks plain http: expected neither --tls nor --cert.');
  }
  return judge;
}

async function start(
  wing: AgentWing,
  given: AgentFlags,
): Promise<Awaited<ReturnType<AgentWing['startAgent']>>> {
  const { host, port = given.mutant === undefined ? PORT : 0 } = given;
  const apiKey = flags.sandboxKey(given['api-key-file']) ?? null;
  if (apiKey === null && !given.open && !isLoopbackHost(host)) {
    throw new UsageError(
      `--host: an agent on ${host} can be reached by others: give it a key in SANDBOX_KIT_API_KEY, or say --open.`,
    );
  }
  // For the words of a file that can't be read, which every flag shares.
  if (given.script !== undefined) readTextFile(given.script, '--script');
  try {
    return await wing.startAgent({
      host,
      port,
      apiKey,
      open: given.open,
      seed: given.seed,
      log: stderrLog(given['log-level']),
      tls: tlsOf(given),
      faults: (given.fault ?? []).map((text) => wing.readFault(text)),
      script: given.script === undefined ? null : wing.readScript(given.script),
      journalBodies: given['journal-bodies'],
      voice: given.voice ? voiceOf(given) : null,
    });
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof wing.StartError)) throw error;
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE') {
      throw new UsageError(`--port: ${port} is in use on ${host}; --port 0 takes a free one.`);
    }
    throw new UsageError(error.message);
  }
}

function voiceOf(
  given: AgentFlags,
): Parameters<AgentWing['startAgent']>[0] extends { voice?: infer Voice } | undefined
  ? NonNullable<Voice>
  : never {
  const address = given['media-address'];
  const ports = given['media-ports'];
  const hangOverMs = given['hang-over'];
  return {
    captions: given.captions,
    ...(address !== undefined && { address }),
    ...(ports && { ports }),
    ...(hangOverMs !== undefined && { hangOverMs }),
  };
}

function tlsOf({
  tls,
  cert,
  key,
}: AgentFlags): Parameters<AgentWing['startAgent']>[0] extends { tls?: infer Tls } | undefined
  ? Tls
  : never {
  if (cert === undefined && key === undefined) return tls ? { kind: 'made' } : null;
  if (cert === undefined || key === undefined) {
    throw new UsageError('--cert and --key go together: expected both.');
  }
  readTextFile(cert, '--cert');
  readTextFile(key, '--key');
  return { kind: 'files', certFile: cert, keyFile: key };
}
