import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import { dataOptions } from '../../src/service/options.ts';
import { maskUrls } from '../../src/platform/base-url.ts';
import { defineCommand } from '../command.ts';
import { UsageError } from '../errors.ts';
import { switchOption } from '../../src/options/option.ts';
import { clientJudgmentOptions, prepareClientJudgment } from '../runs/client-judgment.ts';
import { createCommandRunner } from '../runs/command-runner.ts';
import { createRunningServers } from '../runs/running-servers.ts';
import { startServiceFor } from '../runs/start-service.ts';

export const exec = defineCommand({
  description: [
    'Starts the service on a free port, runs the command with variables that point to it, stops the service, and exits with the exit code of the command.',
    'With --judge-client, also judges the requests of the command to the service. If the command succeeded, the exit code is the result of the judgment.',
  ],
  arguments: {},
  rest: 'COMMAND',
  options: {
    agent: switchOption('Also start the reference sandbox'),
    ...clientJudgmentOptions,
    ...dataOptions,
  },
  examples: [
    { command: 'sandbox-kit exec -- npm test' },
    { command: 'sandbox-kit exec --agent --seed-file demo.yaml -- pytest' },
    {
      note: 'Judge the requests of the tests, and their retries after errors',
      command: 'sandbox-kit exec --judge-client --inject-faults --json client.json -- npm test',
    },
  ],
  exitCodes: {
    0: 'the command succeeded, and the client conforms',
    1: 'the client does not conform',
    3: 'not judged, for example because the client sent no request',
  },
  environment: {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'Set for the command, with _HEADERS and _PROTOCOL',
    SANDBOX_KIT_SERVICE_URL: 'Set for the command: URL of the service',
    SANDBOX_KIT_SERVICE_API_KEY: 'Set for the command: API key of the service',
    SANDBOX_KIT_ADMIN_URL: 'Set for the command: URL of the admin API',
    SANDBOX_KIT_AGENT_URL: 'Set for the command with --agent: URL of the sandbox',
  },
  hintUnexpected(word, args) {
    const index = args.indexOf(word);
    const corrected = [...args.slice(0, index), '--', ...args.slice(index)].join(' ');
    return `Put -- before the command: sandbox-kit ${maskUrls(corrected).slice(0, 200)}.`;
  },
  async run({ agent: withAgent, ...flags }, { process, rest: [command, ...args] }) {
    if (command === undefined) {
      throw new UsageError('COMMAND is missing. Usage: sandbox-kit exec -- COMMAND.');
    }
    const judgment = await prepareClientJudgment(flags, process);
    // Listen for signals before anything starts that must be stopped.
    using runner = createCommandRunner(process);
    const serviceValues = {
      ...flags,
      host: '127.0.0.1',
      port: 0,
      apiKeyHeader: SERVICE_API_KEY_HEADER,
      recordCallers: judgment !== undefined,
    };
    const servers = createRunningServers();
    try {
      const service = servers.add(await startServiceFor(serviceValues, process));
      const agent = withAgent ? servers.add(await startReferenceAgent()) : undefined;
      judgment?.injectFaults(service);
      const commandCode = await runner.run(command, args, {
        ...service.env,
        ...(agent && { SANDBOX_KIT_AGENT_URL: agent.url }),
      });
      const { isInterrupted } = runner;
      if (!judgment) return commandCode;
      const judgmentCode = await judgment.conclude(service, { isInterrupted });
      if (commandCode === 0) return judgmentCode;
      process.stderr.write(describeFailedCommand(commandCode));
      return commandCode;
    } finally {
      await servers.stop();
    }
  },
});

/** Says that the exit code is not that of the judgment, which is the last thing that was printed. */
const describeFailedCommand = (code: number): string =>
  `The command failed with exit code ${code}. exec exits with the same code and ignores the verdict.\n`;

/** A separate function: in one with `using`, the compiler does not rewrite import paths. */
async function startReferenceAgent() {
  const { startAgent } = await import('../../reference-agent/index.ts');
  return startAgent();
}
