import type * as agentModule from '../../../reference-agent/index.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import { createLog } from '../../platform/log.ts';
import { defineCommand, type Invocation, type ValuesOf } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import * as common from '../flags/shared-options.ts';
import { readSandboxKey } from '../flags/environment.ts';
import { group, listOption, option, optionWithDefault, switchOption } from '../flags/option.ts';
import * as values from '../flags/values.ts';
import { readTextFile, reserveFile, writeOutput } from '../input/files.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { listenForStop } from '../signals.ts';
import { announceStop, isPortInUse, loadMutants, portInUseError } from './servers.ts';

const PORT = 8080;

const options = {
  port: option(values.port, 'PORT', 'Port to listen on; 0 selects a free one', String(PORT)),
  host: common.host,
  json: switchOption('Print the URLs and the key as one line of JSON'),
  ...common.keyOptions,
  open: switchOption('Allow a non-loopback host without a key'),
  seed: optionWithDefault(values.seed, 'SEED', 'Random seed of all ids', 'reference'),
  'log-level': common.logLevel,
  ...group('TLS', {
    tls: switchOption('Serve HTTPS with a new certificate'),
    'ca-out': optionWithDefault(
      values.filePath,
      'FILE',
      'Write the CA certificate of --tls to this file',
      'sandbox-kit-ca.pem',
    ),
    cert: option(values.filePath, 'FILE', 'Serve HTTPS with this certificate (PEM)'),
    key: option(values.filePath, 'FILE', 'Private key of --cert (PEM)'),
  }),
  ...group('Behavior', {
    script: option(values.filePath, 'FILE', 'Reply from this JSON file'),
    fault: listOption(values.text, 'FAULT', 'Inject a fault; repeatable'),
    mutant: option(values.text, 'ID', 'Break one requirement; listens on a free port'),
    'journal-bodies': switchOption('Keep request bodies for GET /__admin/requests'),
  }),
  ...group('Voice', {
    voice: switchOption('Reject calls', true),
    captions: switchOption('Ignore captions that arrive with the speech', true),
    'media-address': option(values.ipAddress, 'IP', 'IP address for media', 'address of --host'),
    'media-ports': option(values.portRange, 'RANGE', 'UDP ports for media, such as 40000-40400'),
    'hang-over': option(
      values.wholeNumber(20, 10_000),
      'MS',
      'Silence that ends a turn in ms, 20 to 10000',
      '140',
    ),
  }),
};

type AgentFlags = ValuesOf<typeof options>;
type ReferenceAgent = typeof agentModule;
type AgentOptions = NonNullable<Parameters<ReferenceAgent['startAgent']>[0]>;
type RunningAgent = Awaited<ReturnType<ReferenceAgent['startAgent']>>;

export const agent = defineCommand({
  description: [
    'Runs until you press Ctrl-C. It then finishes the open requests within 5 s; a second Ctrl-C ends it immediately.',
  ],
  arguments: {},
  options,
  examples: [
    { command: 'sandbox-kit agent --port 0 --json' },
    {
      note: 'Return 429 to the next three requests and report bad health',
      command: 'sandbox-kit agent --fault "rate_limit;times=3" --fault unhealthy',
    },
    {
      note: 'List mutants with sandbox-kit selftest --list',
      command: 'sandbox-kit agent --mutant chat/content-null',
    },
    { command: 'sandbox-kit agent --tls --ca-out ca.pem' },
  ],
  environment: { SANDBOX_KIT_API_KEY: 'Bearer key that requests must send' },
  notes: ['With --json, the first line of stdout is {"url":…,"voiceUrl":…,"apiKey":…}.'],
  run: runAgent,
});

async function runAgent(flags: AgentFlags, { process }: Invocation): Promise<number> {
  const mutants = await loadMutants(flags, 'sandbox');
  if (mutants) rejectTls(flags);
  const reference = await import('../../../reference-agent/index.ts');
  if (flags.tls) reserveFile(flags['ca-out'], '--ca-out');
  const running = await start(reference, flags, process);
  const mutant = await mutants?.start(running.url);
  // Listen for signals first: a caller that reads the URL may stop the agent immediately.
  using stop = listenForStop(process);
  try {
    if (running.caPem !== null) {
      writeOutput(flags['ca-out'], running.caPem, '--ca-out', process.stdout);
    }
    introduce(
      {
        ...running,
        // Only the URLs of the mutant show what it breaks.
        ...(mutant && {
          url: mutant.url,
          breaks: mutant.description,
          voiceUrl: running.voiceUrl && `${mutant.url.replace('http', 'ws')}/voice`,
        }),
      },
      flags,
      process,
    );
    await stop.received;
  } finally {
    await mutant?.stop();
    await running.stop();
  }
  announceStop(flags, 'The agent stopped.', process.stderr);
  return exitCodes.ok;
}

function rejectTls({ tls, cert, key }: AgentFlags): void {
  if (tls || cert !== undefined || key !== undefined) {
    throw new UsageError("--mutant serves plain HTTP. It can't be combined with --tls or --cert.");
  }
}

/** Prints the URLs: as JSON for programs, or with the next steps for people. */
function introduce(
  {
    url,
    voiceUrl,
    apiKey,
    caPem,
    breaks,
  }: Pick<RunningAgent, 'url' | 'voiceUrl' | 'apiKey' | 'caPem'> & { breaks?: string },
  flags: AgentFlags,
  { stdout, env }: CommandProcess,
): void {
  const caFile = flags['ca-out'];
  if (flags.json) {
    const voice = voiceUrl === null ? {} : { voiceUrl };
    const ca = caPem === null ? {} : { caFile };
    stdout.write(`${JSON.stringify({ url, ...voice, apiKey, ...ca })}\n`);
    return;
  }
  const out = createTerminal(stdout, env);
  const lines = [
    `The ${breaks === undefined ? 'agent' : 'mutant'} listens at ${out.style('bold', url)}`,
    ...(breaks === undefined ? [] : [`  mutation  ${breaks}`]),
    `  API key   ${apiKey === null ? 'not required' : 'required, as configured'}`,
    ...(voiceUrl === null ? [] : [`  voice     ${voiceUrl}`]),
    `  faults    ${url}/__admin/faults`,
    `  check     sandbox-kit check ${url}${caPem === null ? '' : ` --ca ${caFile}`}`,
    'Press Ctrl-C to stop.',
  ];
  out.write(`${lines.join('\n')}\n`);
}

async function start(
  reference: ReferenceAgent,
  flags: AgentFlags,
  { env, stderr }: CommandProcess,
): Promise<RunningAgent> {
  const { host, port = flags.mutant === undefined ? PORT : 0 } = flags;
  const apiKey = readSandboxKey(flags, env) ?? null;
  if (apiKey === null && !flags.open && !isLoopbackHost(host)) {
    throw new UsageError(
      `Other machines can reach ${host} (--host). Set a key in SANDBOX_KIT_API_KEY, or use --open.`,
    );
  }
  // Report an unreadable file as for all other options.
  if (flags.script !== undefined) readTextFile(flags.script, '--script');
  try {
    return await reference.startAgent({
      host,
      port,
      apiKey,
      open: flags.open,
      seed: flags.seed,
      log: createLog(flags['log-level'], stderr),
      tls: tlsOptionsOf(flags),
      faults: (flags.fault ?? []).map((fault) => reference.readFault(fault)),
      script: flags.script === undefined ? null : reference.readScript(flags.script),
      journalBodies: flags['journal-bodies'],
      voice: flags.voice ? voiceOptionsOf(flags) : null,
    });
  } catch (error) {
    if (!(error instanceof reference.StartError)) throw error;
    throw isPortInUse(error) ? portInUseError(host, port) : new UsageError(error.message);
  }
}

function voiceOptionsOf(flags: AgentFlags): NonNullable<AgentOptions['voice']> {
  const address = flags['media-address'];
  const ports = flags['media-ports'];
  const hangOverMs = flags['hang-over'];
  return {
    captions: flags.captions,
    ...(address !== undefined && { address }),
    ...(ports && { ports }),
    ...(hangOverMs !== undefined && { hangOverMs }),
  };
}

function tlsOptionsOf({ tls, cert, key }: AgentFlags): NonNullable<AgentOptions['tls']> | null {
  if (cert === undefined && key === undefined) return tls ? { kind: 'generated' } : null;
  if (cert === undefined || key === undefined) {
    throw new UsageError('--cert and --key must be used together.');
  }
  readTextFile(cert, '--cert');
  readTextFile(key, '--key');
  return { kind: 'files', certFile: cert, keyFile: key };
}
