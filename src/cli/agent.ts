import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { stderrLog } from '../shared/log.ts';
import { readTextFile, writeTextFile } from './files.ts';
import * as flags from './flags.ts';
import { untilStopped } from './signals.ts';
import { terminalOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const agentFlags = z.object({
  host: z.string({ error: 'expected one address' }).min(1, 'expected an address'),
  port: flags.wholeNumber(0, 65_535),
  json: z.boolean(),
  'api-key-file': flags.filePath.optional(),
  open: z.boolean(),
  tls: z.boolean(),
  'ca-out': flags.filePath,
  cert: flags.filePath.optional(),
  key: flags.filePath.optional(),
  seed: flags.seed,
  script: flags.filePath.optional(),
  fault: z.array(z.string()).optional(),
  'journal-bodies': z.boolean(),
  'log-level': z.enum(['silent', 'error', 'warn', 'info']),
});

type AgentFlags = z.infer<typeof agentFlags>;
type AgentWing = typeof import('../../reference-agent/index.ts');

/** `sandbox-kit agent`: a sandbox that obeys the interface, or breaks it on demand. */
export const agentVerb: CommandModule = {
  command: 'agent',
  describe: 'Run a sandbox that obeys the interface, or breaks it on demand',
  builder: (yargs) =>
    yargs
      .usage('sandbox-kit agent\n\nRuns the reference sandbox until it is stopped.')
      .option('port', { type: 'number', default: 8080, describe: '0 takes a free one' })
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
      .option('key', { type: 'string', describe: 'the key of --cert, PEM' })
      .option('seed', { type: 'string', default: 'reference', describe: 'all ids follow from it' })
      .option('script', { type: 'string', describe: 'file with replies of your own, JSON' })
      .option('fault', {
        type: 'string',
        array: true,
        describe: 'show a fault, e.g. "rate_limit;times=3"',
      })
      .option('journal-bodies', {
        type: 'boolean',
        default: false,
        describe: 'remember what was said, for /__admin/requests',
      })
      .option('log-level', { choices: ['silent', 'error', 'warn', 'info'], default: 'warn' })
      .example('sandbox-kit agent --port 0 --json', '')
      .example('sandbox-kit agent --fault "unhealthy;ttl_ms=60000"', '')
      .example('sandbox-kit agent --tls --ca-out ca.pem', ''),
  handler: async (argv) => {
    await runAgent(flags.parseFlags(agentFlags, argv));
  },
};

async function runAgent(given: AgentFlags): Promise<void> {
  const wing = await import('../../reference-agent/index.ts');
  const agent = await start(wing, given);
  if (agent.caPem !== null) writeTextFile(given['ca-out'], agent.caPem, '--ca-out');
  const { url, apiKey } = agent;
  const caFile = agent.caPem === null ? {} : { caFile: given['ca-out'] };
  const out = terminalOf(process.stdout);
  if (given.json) process.stdout.write(`${JSON.stringify({ url, apiKey, ...caFile })}\n`);
  else {
    const trust = agent.caPem === null ? '' : ` --ca ${given['ca-out']}`;
    out.write(
      `The agent listens at ${out.paint('bold', url)}\n` +
        `  key     ${apiKey === null ? 'none asked for' : 'the one given'}\n` +
        `  faults  ${url}/__admin/faults\n` +
        `  check   sandbox-kit check ${url}${trust}\n` +
        `Stop it with Ctrl-C.\n`,
    );
  }
  await untilStopped();
  await agent.stop();
}

async function start(
  wing: AgentWing,
  given: AgentFlags,
): Promise<Awaited<ReturnType<AgentWing['startAgent']>>> {
  try {
    return await wing.startAgent({
      host: given.host,
      port: given.port,
      apiKey: flags.sandboxKey(given['api-key-file']) ?? null,
      open: given.open,
      seed: given.seed,
      log: stderrLog(given['log-level']),
      tls: tlsOf(given),
      faults: (given.fault ?? []).map((text) => wing.readFault(text)),
      script: given.script === undefined ? null : wing.readScript(given.script),
      journalBodies: given['journal-bodies'],
    });
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof wing.CannotStart)) throw error;
    throw new UsageError(error.message);
  }
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
