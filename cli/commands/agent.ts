import { readTextFile } from '../../library/input/files.ts';
import type * as agentModule from '../../reference-agent/index.ts';
import type { AgentOptions, RunningAgent } from '../../reference-agent/index.ts';
import { agentOptions, PORT } from '../../reference-agent/options.ts';
import { dropUndefined, libraryValues, type FlagValues } from '../../src/options/table.ts';
import { isLoopbackHost } from '../../src/platform/loopback.ts';
import { quoteArgument } from '../../src/platform/shell.ts';
import { createLog } from '../../src/platform/log.ts';
import { deriveVoiceUrl } from '../../src/voice/call/voice-target.ts';
import { defineCommand, type Invocation } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { readAgentScript } from '../input/agent-script.ts';
import { readSandboxKey } from '../input/keys.ts';
import { announceStop } from '../output/announce-stop.ts';
import { formatFact } from '../output/facts.ts';
import { reserveFile, writeOutput } from '../output/files.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { listenForStop } from '../signals.ts';
import { prepareMutant } from '../runs/mutant.ts';
import { findPortInUse } from '../runs/port-in-use.ts';
import { createRunningServers } from '../runs/running-servers.ts';

type AgentValues = FlagValues<typeof agentOptions>;
type ReferenceAgent = typeof agentModule;

export const agent = defineCommand({
  description: [
    'Runs until you press Ctrl-C. It then finishes the open requests within 5 s; a second Ctrl-C ends it immediately.',
  ],
  arguments: {},
  options: agentOptions,
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
  notes: ['With --json, the first line of stdout is {"url":…,"voiceUrl":…,"apiKey":…}.'],
  run: runAgent,
});

async function runAgent(values: AgentValues, { process }: Invocation): Promise<number> {
  const startMutant = await prepareMutant(values, 'sandbox');
  if (startMutant) rejectTls(values);
  const reference = await import('../../reference-agent/index.ts');
  if (values.withTls) reserveFile(values.caOut, '--ca-out');
  const servers = createRunningServers();
  // Listen for signals first: a caller that reads the URL may stop the agent immediately.
  using stop = listenForStop(process);
  try {
    const running = servers.add(await start(reference, values, process));
    const mutant = servers.add(await startMutant?.(running.url));
    if (running.caPem !== null) {
      writeOutput(values.caOut, running.caPem, '--ca-out', process.stdout);
    }
    introduce(
      {
        ...running,
        // Only the URLs of the mutant show what it breaks.
        ...(mutant && {
          url: mutant.url,
          breaks: mutant.description,
          voiceUrl: running.voiceUrl && deriveVoiceUrl(mutant.url),
        }),
      },
      values,
      process,
    );
    await stop.received;
  } finally {
    await servers.stop();
  }
  announceStop(values, 'The agent stopped.', process.stderr);
  return exitCodes.ok;
}

function rejectTls({ withTls, cert, key }: AgentValues): void {
  if (withTls || cert !== undefined || key !== undefined) {
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
  values: AgentValues,
  { stdout, env }: CommandProcess,
): void {
  const caFile = values.caOut;
  if (values.json) {
    const voice = voiceUrl === null ? {} : { voiceUrl };
    const ca = caPem === null ? {} : { caFile };
    stdout.write(`${JSON.stringify({ url, ...voice, apiKey, ...ca })}\n`);
    return;
  }
  const out = createTerminal(stdout, env);
  const fact = (label: string, text: string): string[] => formatFact(label, text, out.width);
  const files = [
    ['--ca', caPem === null ? undefined : caFile],
    ['--api-key-file', values.apiKeyFile],
  ].flatMap(([flag = '', file]) => (file === undefined ? [] : [flag, quoteArgument(file)]));
  const lines = [
    `The ${breaks === undefined ? 'agent' : 'mutant'} listens at ${out.style('bold', url)}`,
    ...(breaks === undefined ? [] : fact('mutation', breaks)),
    ...fact('API key', apiKey === null ? 'not required' : 'required, as configured'),
    ...(voiceUrl === null ? [] : fact('voice', voiceUrl)),
    ...fact('faults', `${url}/__admin/faults`),
    // One line, to be copied.
    `  check     ${[out.program, 'check', url, ...files].join(' ')}`,
    'Press Ctrl-C to stop.',
  ];
  out.write(`${lines.join('\n')}\n`);
}

async function start(
  reference: ReferenceAgent,
  values: AgentValues,
  { env, stderr }: CommandProcess,
): Promise<RunningAgent> {
  const { host } = values;
  // A mutant listens at the port itself.
  const port = values.mutant === undefined ? (values.port ?? PORT) : 0;
  const apiKey = readSandboxKey(values, env) ?? null;
  if (apiKey === null && !values.open && !isLoopbackHost(host)) {
    throw new UsageError(
      `Other machines can reach ${host} (--host). Set a key in SANDBOX_KIT_API_KEY, or use --open.`,
    );
  }
  try {
    return await reference.startAgent({
      ...libraryValues(agentOptions, values),
      port,
      apiKey,
      log: createLog(values.logLevel, stderr),
      tls: tlsOptionsOf(values),
      faults: (values.fault ?? []).map((fault) => reference.readFault(fault)),
      script: readAgentScript(values.scriptFile, reference),
      voice: values.acceptsCalls ? dropUndefined(values.voice ?? {}) : null,
    });
  } catch (error) {
    if (!(error instanceof reference.StartError)) throw error;
    throw findPortInUse(error, { host, port }) ?? new UsageError(error.message);
  }
}

function tlsOptionsOf({ withTls, cert, key }: AgentValues): AgentOptions['tls'] {
  if (cert === undefined && key === undefined) return withTls ? { kind: 'generated' } : null;
  if (cert === undefined || key === undefined) {
    throw new UsageError('--cert and --key must be used together.');
  }
  readTextFile(cert, '--cert');
  readTextFile(key, '--key');
  return { kind: 'files', certFile: cert, keyFile: key };
}
