/** Runs a program with a real SDK against the model server and a service, and reads the results. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { buffer as readBytes } from 'node:stream/consumers';
import type { Test } from 'tap';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { startLocally } from '../support/network/local-server.ts';
import { readSessionPage } from '../support/pages/session-page.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../support/services/service.ts';
import { dialog, startModelServer } from './model-server.ts';

/** The turns, warnings, and responses that the service produced for one run. */
export interface SdkRun {
  /** One line per turn: `question > name(arguments) = result > answer`. */
  turns: string[];
  /** The response to the end of the conversation. */
  end: { status: number; message: string };
  /** Messages of the ingest log, warnings and errors only. */
  warnings: string[];
  /** The trace requests as OTLP/JSON. */
  requests: TraceRequestJson[];
  conversationId: string;
}

/** An OTLP/JSON request, as far as the tests change it. */
export interface TraceRequestJson {
  resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
}

const PROGRAM_MS_MAX = 60_000;

/** Runs `sdks/NAME.mjs`, ends the conversation, and returns what the service shows. */
export async function runSdk(
  t: Test,
  name: string,
  options: { isCured: boolean },
): Promise<SdkRun> {
  const conversationId = `${name}-1`;
  const tested = await startScoringService(t);
  const relay = await startRelay(t, tested.service.url);
  await runProgram(name, {
    MODEL_URL: await startModelServer(t),
    QUESTIONS: dialog.map(({ question }) => question).join('\n'),
    TRACES_URL: `${relay.url}/v1/traces`,
    SERVICE_API_KEY: tested.service.apiKey,
    CONVERSATION_ID: conversationId,
    CURED: options.isCured ? 'yes' : 'no',
  });
  return {
    ...(await readResults(tested, conversationId)),
    requests: relay.requests,
    conversationId,
  };
}

/** Sends requests to a new service, ends the conversation, and returns what the service shows. */
export async function sendRequests(
  t: Test,
  requests: readonly TraceRequestJson[],
  conversationId: string,
): Promise<Omit<SdkRun, 'requests'>> {
  const tested = await startScoringService(t);
  for (const body of requests) {
    // The rate limit is 120 requests per minute.
    tested.clock.advance(1_000);
    const headers = { 'x-conversation-id': conversationId };
    const { status, text } = await tested.send('POST /v1/traces', { body, headers });
    t.equal(status, 200, text);
  }
  return { ...(await readResults(tested, conversationId)), conversationId };
}

/** Starts a service that scores conversations. SDKs have real clocks, so it starts at the real time. */
async function startScoringService(t: Test): Promise<ServiceUnderTest> {
  const clock = manualClock(Date.now());
  const tested = { ...(await withService(t, { clock })), clock };
  await tested.admin('POST /evals', makeContainsEval('looks', dialog[0].answer));
  await tested.admin('PUT /settings', { evals: ['looks'] });
  return tested;
}

async function readResults(
  { send, drain, admin, production }: ServiceUnderTest,
  conversationId: string,
): Promise<Pick<SdkRun, 'turns' | 'end' | 'warnings'>> {
  const { status, json } = await send(`POST /v1/sessions/${conversationId}/end`);
  const { message = '' } = json as { message?: string };
  await drain();
  const { items } = await production('?include_traces=true');
  const turns: string[] = [];
  for (const { source_session_id: id, traces, url } of items) {
    if (id !== conversationId) throw new Error(`An unexpected conversation: ${id}`);
    const shown = (await readSessionPage(url)).turns;
    turns.push(
      ...(traces ?? []).map(({ user_input: question, agent_response: answer }, index) => {
        const tools = shown[index]?.tools.map(formatTool) ?? [];
        return [question, ...tools, answer].join(' > ');
      }),
    );
  }
  const { entries } = (await admin('GET /ingest-log')) as {
    entries: { level: string; message: string }[];
  };
  const warnings = entries.filter(({ level }) => level !== 'info').map(({ message: m }) => m);
  return { turns, end: { status, message }, warnings };
}

function formatTool({
  name,
  arguments: args,
  result,
}: Record<'name' | 'arguments' | 'result', unknown>): string {
  return `${String(name)}(${formatJson(args)}) = ${formatJson(result)}`;
}

/** Formats a JSON value, or the JSON text of one: SDKs record either. */
function formatJson(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return value;
  }
}

const FORWARDED_HEADERS = ['content-type', 'x-service-api-key', 'x-conversation-id'];

/** Starts a server that forwards trace requests to the service and keeps them. */
async function startRelay(
  t: Test,
  serviceUrl: string,
): Promise<{ url: string; requests: TraceRequestJson[] }> {
  const requests: TraceRequestJson[] = [];
  const server = createServer((request, response) => {
    void readBytes(request).then(async (body) => {
      if (request.url === '/v1/traces') requests.push(JSON.parse(body.toString()) as never);
      const answer = await fetch(serviceUrl + (request.url ?? ''), {
        method: 'POST',
        headers: Object.fromEntries(
          FORWARDED_HEADERS.map((name) => [name, String(request.headers[name] ?? '')]),
        ),
        body,
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    });
  });
  return { url: await startLocally(t, server), requests };
}

/** Runs a program in its own process, because SDKs register themselves globally. */
async function runProgram(name: string, environment: Record<string, string>): Promise<void> {
  const path = fileURLToPath(new URL(`sdks/${name}.mjs`, import.meta.url));
  const guard = new URL('sdks/loopback-only.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--no-warnings', '--import', guard, path], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PROGRAM_MS_MAX,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${name}.mjs ended with ${String(code)}:\n${output}`);
}
