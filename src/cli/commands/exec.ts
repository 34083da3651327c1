import { serviceApiKeyHeader } from '../../contract/index.ts';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import * as flags from '../flags/flags.ts';
import { commandRunner } from './run-command.ts';
import { exporterVariables, startFrom } from './serve.ts';
import { UsageError } from '../flags/usage-error.ts';

const execFlags = z.object({
  agent: z.boolean(),
  data: flags.filePath.optional(),
  'seed-file': flags.filePath.optional(),
  seed: flags.seed.optional(),
  'log-level': flags.logLevel,
  '--': z
    .array(z.union([z.string(), z.number()]).transform(String))
    .min(1)
    .optional(),
});

/** `sandbox-kit exec -- CMD`: the service around a command, as a contract test needs it. */
export const execVerb: CommandModule = {
  command: 'exec',
  describe: 'Run a command with the service, and an agent, around it',
  builder: (yargs) =>
    yargs
      .usage(
        'sandbox-kit exec [--agent] -- CMD\n\nStarts the service, runs a command that finds it in its environment, and\nends with the exit code of the command.',
      )
      .option('agent', { type: 'boolean', default: false, describe: 'a sandbox as well' })
      .option('data', { type: 'string', describe: 'folder to keep everything in' })
      .option('seed-file', { type: 'string', describe: 'what it holds at start, YAML or JSON' })
      .option('seed', { type: 'string', describe: 'all ids follow from it' })
      .option('log-level', { type: 'string', default: 'warn', describe: flags.LOG_LEVELS })
      .epilogue(
        `Examples:
  sandbox-kit exec -- npm test
  sandbox-kit exec --agent --seed-file demo.yaml -- pytest

The command finds OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS and _PROTOCOL,
SANDBOX_KIT_SERVICE_URL, SANDBOX_KIT_SERVICE_API_KEY, SANDBOX_KIT_ADMIN_URL,
and with --agent SANDBOX_KIT_AGENT_URL.`,
      ),
  handler: async (argv) => {
    const given = flags.parseFlags(execFlags, argv);
    const [command, ...args] = given['--'] ?? [];
    if (command === undefined) throw new UsageError('Say what to run: sandbox-kit exec -- CMD.');
    process.exitCode = await around(given, command, args);
  },
};

async function around(
  given: z.infer<typeof execFlags>,
  command: string,
  args: string[],
): Promise<number> {
  // Before anything is started that would have to be stopped.
  using runner = commandRunner();
  const service = await startFrom({
    ...given,
    host: '127.0.0.1',
    port: 0,
    'api-key-header': serviceApiKeyHeader,
  });
  try {
    const agent = given.agent ? await sandbox() : undefined;
    try {
      return await runner.run(command, args, {
        ...exporterVariables(service, serviceApiKeyHeader),
        SANDBOX_KIT_SERVICE_URL: service.url,
        SANDBOX_KIT_SERVICE_API_KEY: service.apiKey,
        SANDBOX_KIT_ADMIN_URL: service.adminUrl,
        ...(agent ? { SANDBOX_KIT_AGENT_URL: agent.url } : {}),
      });
    } finally {
      await agent?.stop();
    }
  } finally {
    await service.stop();
  }
}

/** Apart from its caller: the compiler would not see this import beside its `using`. */
async function sandbox(): ReturnType<
  typeof import('../../../reference-agent/index.ts').startAgent
> {
  const { startAgent } = await import('../../../reference-agent/index.ts');
  return startAgent();
}
