import type { Diagnosis } from '../../conformance/index.ts';
import type { ConversationScenario } from '../../src/service/index.ts';
import { statSync } from 'node:fs';
import * as z from 'zod';
import { runDiagnosis } from '../../library/run-diagnosis.ts';
import { isMessage } from '../../src/contract/index.ts';
import { PORT } from '../../src/service/options.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { isObject } from '../../src/platform/json.ts';
import { quoteArgument } from '../../src/platform/shell.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { exitCodes, UnavailableError, UsageError } from '../errors.ts';
import { apiKey, apiKeyFile, apiKeyHeader, serviceKey } from '../../src/options/keys.ts';
import { readServiceKey } from '../input/keys.ts';
import {
  fromVariables,
  option,
  optionWithDefault,
  switchOption,
} from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { writeDocumentText } from '../../library/input/documents.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { reserveFile, writeOutput } from '../output/files.ts';
import { fill, WIDTH } from '../output/message.ts';
import { findProgramName } from '../output/program-name.ts';
import type { Variables } from '../process.ts';

const SERVICE_URL = `http://127.0.0.1:${PORT}`;
const RESPONSE_TIMEOUT_MS = 10_000;
const DIAGNOSIS_TIMEOUT_MS = 5_000;

const positionals = {
  action: argument(
    z.literal('from-conversation').describe('from-conversation'),
    'The only action: from-conversation',
  ),
  id: argument(
    values.text.describe('the id of a conversation, or of its session'),
    'Id of the conversation or of its session',
  ),
};

const options = {
  service: option(values.serviceUrl, 'URL', 'Base URL of the service', SERVICE_URL),
  data: option(values.filePath, 'DIR', 'Read the data directory of a service instead'),
  owner: option(values.text, 'OWNER', 'Owner of the conversation'),
  out: optionWithDefault(values.filePath, 'FILE', 'File to write; - for stdout', '-'),
  force: switchOption('Overwrite the file'),
  apiKey: fromVariables(serviceKey, apiKey),
  apiKeyFile,
  apiKeyHeader,
};

type ScenarioFlags = ValuesOf<typeof positionals, typeof options>;

export const scenario = defineCommand({
  description: [
    "The user's messages become steps; the evals that scored the conversation, and the tools that were called, become evals. Notes on stderr say what the scenario leaves out.",
  ],
  arguments: positionals,
  options,
  examples: [
    { command: 'sandbox-kit scenario from-conversation conv-1 --out conv-1.scenario.yaml' },
    { command: 'sandbox-kit scenario from-conversation conv-1 --data ./service' },
  ],
  exitCodes: {
    0: 'the scenario is written',
    2: 'wrong options, an unknown conversation, or a file that cannot be read or written',
    3: 'the service was unreachable or refused the key, or its response was not a scenario',
  },
  async run(flags, { process: { stdout, stderr, env } }) {
    const { id, data, service, out, force } = flags;
    if (data !== undefined && service !== undefined) {
      throw new UsageError("--data and --service can't be combined.");
    }
    if (statSync(id, { throwIfNoEntry: false })?.isFile()) {
      throw new UsageError(
        `ID must be the id of a conversation or of its session, got the file ${id}. A service must store the conversation first: upload its transcript on the pages of the service.`,
      );
    }
    if (!force && hasContent(out)) {
      throw new UsageError(`${out} (--out) exists. Use --force to overwrite it.`);
    }
    reserveFile(out, '--out');
    const result = await (data === undefined
      ? readFromService(flags, env)
      : readFromData(data, flags));
    writeOutput(out, formatScenario(id, result), '--out', stdout);
    for (const note of result.notes) stderr.write(`${fill(`Note: ${note}`)}\n`);
    if (out !== '-') {
      stderr.write(
        `Wrote ${out}. Review the user's messages, then run\n` +
          `${findProgramName(env)} simulate URL --scenario ${quoteArgument(out)}\n`,
      );
    }
    return exitCodes.ok;
  },
});

/** Returns whether writing would overwrite content. An empty file may be left from a failed attempt. */
function hasContent(path: string): boolean {
  const stats = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && stats.size > 0;
}

async function readFromData(
  directory: string,
  { id, owner }: ScenarioFlags,
): Promise<ConversationScenario> {
  const { isDataDir, makeScenarioFromDataDir, StartError } =
    await import('../../src/service/index.ts');
  if (!isDataDir(directory)) {
    throw new UsageError(`--data must be a data directory of sandbox-kit serve, got ${directory}.`);
  }
  try {
    const result = await makeScenarioFromDataDir({
      dataDir: directory,
      conversationId: id,
      ...(owner !== undefined && { owner }),
    });
    if (result) return result;
  } catch (error) {
    if (error instanceof StartError) {
      throw new UsageError(`Can't read ${directory} (--data): ${error.message}`);
    }
    throw error;
  }
  throw unknownConversation(id, directory);
}

async function readFromService(
  flags: ScenarioFlags,
  env: Variables,
): Promise<ConversationScenario> {
  const { id, owner, service = SERVICE_URL } = flags;
  const apiKey = readServiceKey(flags, env);
  const apiKeyHeader = flags.apiKeyHeader.toLowerCase();
  const rejectUnusableService = (): Promise<void> =>
    rejectUnusable({ url: service, apiKey, apiKeyHeader });
  // On loopback, /__admin ignores the key, even a wrong one.
  if (apiKey !== undefined) await rejectUnusableService();
  const query = owner === undefined ? '' : `?owner=${encodeURIComponent(owner)}`;
  const path = `/__admin/conversations/${encodeURIComponent(id)}/scenario${query}`;
  const headers = apiKey === undefined ? {} : { [apiKeyHeader]: apiKey };
  const { status, body } = await readJson(service + path, headers);
  const { scenario, notes } = isObject(body) ? body : {};
  if (status === 200 && isMessage('Scenario', scenario)) {
    return { scenario, notes: Array.isArray(notes) ? notes.map(String) : [] };
  }
  const message = isMessage('ServiceError', body) ? body.message : '';
  // Other servers, and other URLs of the service, also respond with 404.
  if (status === 404 && owner !== undefined && message.startsWith('There is no owner ')) {
    throw new UsageError(`Unknown owner ${JSON.stringify(owner)} (--owner) at ${service}.`);
  }
  if (status === 404 && message.startsWith('There is no ')) {
    throw unknownConversation(id, `${service}. Its pages list those that it stores`);
  }
  // A service that fails says why. Without a key, the diagnosis would say only that the key is missing.
  if (message === '' || status === 401 || status === 404) await rejectUnusableService();
  const outcome = status === undefined ? 'no valid response' : `HTTP ${status}`;
  throw new UnavailableError(
    `GET ${path} of ${service} (--service) returned ${outcome}${message === '' ? '. Is it sandbox-kit serve?' : `: ${message}`}`,
  );
}

/** Returns the status and the JSON of a response; nothing without a response or without JSON. */
async function readJson(
  url: string,
  headers: Record<string, string>,
): Promise<{ status?: number; body?: unknown }> {
  using deadline = systemClock.deadline(RESPONSE_TIMEOUT_MS);
  try {
    const response = await fetch(url, { headers, signal: deadline.signal });
    return { status: response.status, body: await response.json() };
  } catch {
    return {};
  }
}

/** @throws {UnavailableError} if no service is at the address, or it refuses the key. */
async function rejectUnusable(access: {
  url: string;
  apiKey: string | undefined;
  apiKeyHeader: string;
}): Promise<void> {
  const { blockedBy } = await runDiagnosis({
    ...access,
    areas: ['service'],
    timeoutMs: DIAGNOSIS_TIMEOUT_MS,
  });
  if (!blockedBy) return;
  const { id, message, cure } = blockedBy;
  const { endsInPrefix } = await import('../../conformance/index.ts');
  const isPrefixed = id === 'no_interface' && endsInPrefix(access.url);
  throw new UnavailableError(`${message} ${isPrefixed ? cure : (CURES[id] ?? cure)}`);
}

/** What to do where the advice of `check` does not fit: this command has no --ca and no --area. */
const CURES: Partial<Record<NonNullable<Diagnosis['blockedBy']>['id'], string>> = {
  tls: 'If your own CA issued the certificate, set NODE_EXTRA_CA_CERTS to the file of that CA.',
  no_interface:
    'Start the service with sandbox-kit serve, and pass its URL with --service, or read its data directory with --data DIR.',
};

const unknownConversation = (id: string, place: string): UsageError =>
  new UsageError(`Unknown conversation ${JSON.stringify(id)} at ${place}.`);

/** Without the comment sign. */
const COMMENT_WIDTH = WIDTH - 2;

function formatScenario(id: string, { scenario, notes }: ConversationScenario): string {
  const comments = [
    'yaml-language-server: $schema=node_modules/sandbox-kit/schemas/scenario.schema.json',
    `Created from the conversation ${JSON.stringify(id)}. Review the user's messages: they may`,
    'contain personal data such as names and addresses.',
    ...notes.flatMap((note) => wrap(note, COMMENT_WIDTH)),
  ];
  const head = comments.map((comment) => `# ${comment}\n`).join('');
  return `${head}${writeDocumentText(scenario)}`;
}
