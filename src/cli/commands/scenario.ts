import { serviceApiKeyHeader } from '../../contract/index.ts';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { CommandModule } from 'yargs';
import { z } from 'zod';
import { isMessage } from '../../contract/index.ts';
import { systemClock } from '../../platform/clock.ts';
import { reserveFile, writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { UsageError } from '../flags/usage-error.ts';

const scenarioFlags = z.object({
  action: z.literal('from-conversation', {
    error: 'expected sandbox-kit scenario from-conversation ID',
  }),
  id: z.coerce.string().min(1, 'expected the id of a conversation, got ""'),
  service: flags.serviceUrl.optional(),
  data: flags.filePath.optional(),
  owner: flags.word.optional(),
  out: flags.filePath,
  force: z.boolean(),
  'api-key-file': flags.filePath.optional(),
  'api-key-header': flags.headerName,
});

type ScenarioFlags = z.infer<typeof scenarioFlags>;
type Made = import('../../service/index.ts').ConversationScenario;

const SERVICE = 'http://127.0.0.1:9090';
const ANSWER_MS_MAX = 30_000;

/** `sandbox-kit scenario from-conversation ID`: what happened once, as a scenario. */
export const scenarioVerb: CommandModule = {
  command: 'scenario <action> <id>',
  describe: 'Make a scenario of a production conversation: from-conversation ID',
  builder: (yargs) =>
    yargs
      .usage(
        "sandbox-kit scenario from-conversation ID\n\nMakes a scenario of a production conversation: the user's lines become steps,\nwhat scored it and the tools that were called become evals.",
      )
      .positional('action', { type: 'string', describe: 'from-conversation' })
      .positional('id', { type: 'string', describe: 'of the conversation, or of its session' })
      .option('service', { type: 'string', describe: `address of the service; ${SERVICE}` })
      .option('data', { type: 'string', describe: 'instead: the data folder of a service' })
      .option('owner', { type: 'string', describe: 'whose conversation it is' })
      .option('out', { type: 'string', default: '-', describe: 'file to write; - is stdout' })
      .option('force', { type: 'boolean', default: false, describe: 'write over that file' })
      .option('api-key-file', { type: 'string', describe: "file with the service's key" })
      .option('api-key-header', {
        type: 'string',
        default: serviceApiKeyHeader,
        describe: 'header that carries it',
      }).epilogue(`Examples:
  sandbox-kit scenario from-conversation conv-1 --out conv-1.scenario.yaml
  sandbox-kit scenario from-conversation conv-1 --data ./service`),
  handler: async (argv) => {
    const given = flags.parseFlags(scenarioFlags, argv);
    if (given.data !== undefined && given.service !== undefined) {
      throw new UsageError('--data and --service: expected one of the two.');
    }
    if (!given.force && holdsText(given.out)) {
      throw new UsageError(`--out: ${given.out} is there already: --force writes over it.`);
    }
    reserveFile(given.out, '--out');
    const made = given.data === undefined ? await fromService(given) : await fromData(given);
    writeTextFile(given.out, textOf(given.id, made), '--out');
    if (given.out === '-') return;
    process.stderr.write(
      `Wrote ${given.out}. Look through what the user says, then run it with\n` +
        `sandbox-kit simulate URL --scenario ${given.out}\n`,
    );
  },
};

/** An empty file has nothing to lose: an earlier attempt that failed leaves one. */
function holdsText(path: string): boolean {
  const found = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isFile() && found.size > 0;
}

async function fromData({ data = '', id, owner }: ScenarioFlags): Promise<Made> {
  if (!existsSync(join(data, 'service.db'))) {
    throw new UsageError(`--data: ${data} is no data folder of sandbox-kit serve.`);
  }
  const wing = await import('../../service/index.ts');
  try {
    const kept = { dataDir: data, conversationId: id, ...(owner !== undefined && { owner }) };
    const made = await wing.scenarioOfKept(kept);
    if (made) return made;
  } catch (error) {
    if (error instanceof wing.StartError) throw new UsageError(`--data: ${error.message}.`);
    throw error;
  }
  throw none(id, data);
}

async function fromService(given: ScenarioFlags): Promise<Made> {
  const { id, owner, service = SERVICE } = given;
  const key = flags.serviceKey(given['api-key-file']);
  const query = owner === undefined ? '' : `?owner=${encodeURIComponent(owner)}`;
  const path = `/__admin/conversations/${encodeURIComponent(id)}/scenario${query}`;
  const headers = key === undefined ? {} : { [given['api-key-header']]: key };
  using deadline = systemClock.deadline(ANSWER_MS_MAX);
  let answer: Response;
  let json: unknown;
  try {
    answer = await fetch(service + path, { headers, signal: deadline.signal });
    json = await answer.json();
  } catch {
    throw new UsageError(`--service: ${service} is not to be reached, or no service of the kit.`);
  }
  const { scenario, notes = [] } = json as Partial<Made>;
  if (answer.ok && isMessage('Scenario', scenario)) return { scenario, notes };
  if (answer.status === 404) throw none(id, service);
  throw new UsageError(`--service: ${service} answered ${answer.status} to GET ${path}.`);
}

const none = (id: string, where: string): UsageError =>
  new UsageError(`ID: there is no conversation ${JSON.stringify(id)} at ${where}.`);

function textOf(id: string, { scenario, notes }: Made): string {
  const head = [
    '# yaml-language-server: $schema=node_modules/sandbox-kit/schemas/scenario.schema.json',
    `# Made of the conversation ${JSON.stringify(id)}. Look through what the user says: it may hold`,
    '# what belongs in no file, such as names and addresses.',
    ...notes.map((note) => `# ${note}`),
  ];
  return `${head.join('\n')}\n${stringify(scenario, { lineWidth: 100 })}`;
}
