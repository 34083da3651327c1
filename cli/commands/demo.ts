import type * as conformanceModule from '../../conformance/index.ts';
import type { CheckResult } from '../../conformance/index.ts';
import type { RunningService } from '../../src/service/index.ts';
import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import {
  isMessage,
  resolvePointer,
  type ChatMessage,
  type ChatResponse,
  type ExchangeRecord,
  type SimulationReport,
} from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { toError } from '../../src/platform/error-origin.ts';
import { randomSeed } from '../../src/platform/random.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { switchOption } from '../../src/options/option.ts';
import { readScenarioSet } from '../../library/input/scenario-files.ts';
import { createKitFunctions } from '../../library/kit-functions.ts';
import { kitVersion } from '../../library/kit-version.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { listenForStop } from '../signals.ts';
import { createSpan, encodeTraces, type Span } from '../runs/demo-traces.ts';
import { createRunningServers } from '../runs/running-servers.ts';

type Conformance = typeof conformanceModule;

/** The most common fault of agents that were written for another interface. */
const MUTANT = 'chat/content-null';
/** These areas take seconds to check. For voice, the demo shows one call. */
const TEXT_AREAS = ['chat', 'health', 'users'] as const;

export const demo = defineCommand({
  description: [
    'Runs a sandbox, checks it, breaks it, sends its traces to the service, calls it, and lets simulated users talk to it.',
  ],
  arguments: {},
  options: { keep: switchOption('Keep the servers running until Ctrl-C') },
  examples: [{ command: 'sandbox-kit demo' }, { command: 'sandbox-kit demo --keep' }],
  exitCodes: { 0: 'every step gave the expected result', 1: 'a step did not' },
  async run({ keep }, { process }) {
    const isOk = await runDemo(keep, process);
    return isOk ? exitCodes.ok : exitCodes.findings;
  },
});

async function runDemo(keep: boolean, process: CommandProcess): Promise<boolean> {
  const out = createTerminal(process.stdout, process.env);
  const conformance = await import('../../conformance/index.ts');
  const { startAgent } = await import('../../reference-agent/index.ts');
  const servers = createRunningServers();
  try {
    const agent = servers.add(await startAgent());
    const mutant = servers.add(await conformance.startMutant(MUTANT, agent.url));
    if (!mutant) throw new Error(`unknown mutant ${MUTANT}`);
    const service = servers.add(await startDemoService());
    // The call and the simulations speak for seconds, so they run during the first steps.
    const pendingCall = conformance.checkOneCall({
      target: agent.url,
      kitVersion: kitVersion(),
      seed: randomSeed(),
    });
    const pendingSimulations = await startSimulations(agent.url);
    writeHeading(out, 1, `A sandbox listens at ${agent.url}`);
    await showChat(agent.url, out);

    writeHeading(out, 2, 'Check the sandbox over the network');
    const verdict = await showCheck(conformance, agent.url, out);

    writeHeading(out, 3, `Check the same sandbox with a fault: ${toPhrase(mutant.description)}`);
    const mutantVerdict = await showCheck(conformance, mutant.url, out);

    writeHeading(out, 4, `Send traces to the service at ${service.url}`);
    const isScored = await showService(service, agent.url, { out, keep });

    writeHeading(out, 5, `Call the sandbox at ${agent.voiceUrl ?? agent.url}`);
    const isCallOk = showCall(await pendingCall, out);

    writeHeading(out, 6, 'Let simulated users with a goal talk to it');
    const simulationsPassed = [];
    for (const simulation of pendingSimulations)
      simulationsPassed.push(showSimulation(await simulation, out));

    const isJudged = verdict === 'conforming' && mutantVerdict === 'not-conforming';
    const isOk = isJudged && isScored && isCallOk && simulationsPassed.every((passed) => passed);
    const result = isOk
      ? out.style('green', 'Every step gave the expected result.')
      : out.style('red', 'A step did not give the expected result.');
    out.write(`\n${result}\n`);
    out.write(
      keep
        ? describeServers(
            { agent: agent.url, mutant: mutant.url, admin: service.adminUrl },
            out.program,
          )
        : describeNextSteps(out.program),
    );
    if (keep) await listenForStop(process).received;
    return isOk;
  } finally {
    await servers.stop();
  }
}

function writeHeading(out: Terminal, number: number, title: string): void {
  const [first = '', ...rest] = wrap(title, out.width - 3);
  const lines = [`${number}  ${first}`, ...rest.map((line) => `   ${line}`)];
  out.write(`\n${lines.map((line) => out.style('bold', line)).join('\n')}\n`);
}

const toPhrase = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');

const QUESTION = 'Where is my order A-1001?';

/** Sends one chat request as a simulated user does. */
async function showChat(url: string, out: Terminal): Promise<void> {
  const reply = await chat(url, 'demo', [{ role: 'user', content: QUESTION }]);
  const [{ message }] = reply.choices;
  const [tool] = message.tool_calls ?? [];
  writeRow(out, 'user', QUESTION);
  if (tool) writeRow(out, 'tool', out.style('dim', tool.function.name));
  writeRow(out, 'agent', message.content);
}

async function chat(
  agentUrl: string,
  sessionId: string,
  messages: ChatMessage[],
): Promise<ChatResponse> {
  const response = await fetch(`${agentUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages, session_id: sessionId }),
  });
  const reply: unknown = await response.json();
  if (!isMessage('ChatResponse', reply)) throw new Error('the agent sent no chat response');
  return reply;
}

const LABEL_WIDTH = 10;

/** Writes a label and a wrapped text. */
function writeRow(out: Terminal, label: string, text: string): void {
  const [first = '', ...rest] = wrap(text, out.width - LABEL_WIDTH);
  const lines = [
    `   ${label.padEnd(LABEL_WIDTH - 3)}${first}`,
    ...rest.map((line) => ' '.repeat(LABEL_WIDTH) + line),
  ];
  out.write(`${lines.join('\n')}\n`);
}

function writeOutcome(out: Terminal, outcome: string, text: string): void {
  const color = outcome === 'pass' ? 'green' : 'red';
  const [first = '', ...rest] = wrap(text, out.width - LABEL_WIDTH);
  const lines = [
    `   ${out.style(color, outcome)}${' '.repeat(Math.max(1, LABEL_WIDTH - 3 - outcome.length))}${first}`,
    ...rest.map((line) => ' '.repeat(LABEL_WIDTH) + line),
  ];
  out.write(`${lines.join('\n')}\n`);
}

/** Checks a sandbox, and shows the verdict and each failure. */
async function showCheck(conformance: Conformance, target: string, out: Terminal): Promise<string> {
  const startedMs = systemClock.monotonicMs();
  const { report } = await conformance.check({
    target,
    kitVersion: kitVersion(),
    seed: randomSeed(),
    areas: TEXT_AREAS,
  });
  const tookMs = systemClock.monotonicMs() - startedMs;
  // The demo writes no report from which a request could be sent again.
  const { resendable: _, ...shown } = report;
  const excerpt = {
    ...shown,
    observedBehavior: {},
    waived: [],
    requirements: report.requirements.filter(({ verdict }) => ['fail', 'warn'].includes(verdict)),
  };
  const { style, width } = out;
  const text = conformance.terminalReport(excerpt, { style, width: width - 3, tookMs });
  out.write(text.replaceAll(/^(?=.)/gm, '   '));
  return report.verdict;
}

const CONVERSATION = 'demo-conversation';
const conversationLines = [QUESTION, 'And what are your opening hours?'];

/** Starts a service with two evals. */
async function startDemoService(): Promise<RunningService> {
  const { startService } = await import('../../src/service/index.ts');
  return startService({
    kit: createKitFunctions(),
    seed: {
      evals: [
        {
          id: 'looked-up',
          name: 'Looks up the order',
          category: 'tool_use',
          kind: 'tool_called',
          params: { name: 'look_up_order' },
        },
        {
          id: 'hours',
          name: 'States the opening hours',
          category: 'task_completion',
          kind: 'contains',
          params: { text: 'open' },
        },
      ],
      settings: { evals: ['looked-up', 'hours'] },
    },
  });
}

/**
 * Chats with the agent, sends the traces as an OpenTelemetry exporter does, closes the conversation,
 * and shows the scores. Returns whether both evals passed. With `keep`, also shows the URL of the
 * session's page, which otherwise ends with the demo.
 */
async function showService(
  service: RunningService,
  agentUrl: string,
  { out, keep }: { out: Terminal; keep: boolean },
): Promise<boolean> {
  const headers = { [SERVICE_API_KEY_HEADER]: service.apiKey };
  await sendTraces(`${service.url}/v1/traces`, headers, agentUrl);
  writeRow(out, 'sent', `${conversationLines.length} turns by OTLP, conversation ${CONVERSATION}`);

  const closed = await fetch(`${service.url}/v1/sessions/${CONVERSATION}/end`, {
    method: 'POST',
    headers,
  });
  if (!isMessage('ClosedConversation', await closed.json())) return false;
  await fetch(`${service.adminUrl}/drain`, { method: 'POST' });
  const results = await fetch(`${service.url}/api/prod-evaluations/sessions/`, { headers });
  const page: unknown = await results.json();
  if (!isMessage('ProductionSessionPage', page)) return false;
  const [session] = page.items;
  for (const { eval_name, outcome, reasoning } of session?.eval_outcomes ?? []) {
    writeOutcome(out, outcome, `${eval_name}: ${reasoning}`);
  }
  if (keep) writeRow(out, 'page', session?.url ?? '');
  return session?.outcome_summary.passed_count === 2;
}

/** Sends each turn as instrumentation does: the whole history as input, the reply as output. */
async function sendTraces(
  url: string,
  headers: Record<string, string>,
  agentUrl: string,
): Promise<void> {
  const spans: Span[] = [];
  const history: ChatMessage[] = [];
  for (const line of conversationLines) {
    history.push({ role: 'user', content: line });
    const startMs = systemClock.nowMs();
    const [choice] = (await chat(agentUrl, CONVERSATION, history)).choices;
    spans.push(...createTurnSpans(history, choice.message, startMs, systemClock.nowMs()));
    history.push({ role: 'assistant', content: choice.message.content });
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(encodeTraces('demo-agent', spans)),
  });
  if (!response.ok) throw new Error(`the service refused the traces (${response.status})`);
}

/** Creates the span of a turn, and one below it for each tool call. */
function createTurnSpans(
  history: readonly ChatMessage[],
  reply: ChatResponse['choices'][0]['message'],
  startMs: number,
  endMs: number,
): Span[] {
  const turn = createSpan('chat', startMs, endMs, {
    'gen_ai.conversation.id': CONVERSATION,
    'gen_ai.request.model': 'reference',
    'gen_ai.input.messages': JSON.stringify(history.map(toParts)),
    'gen_ai.output.messages': JSON.stringify([{ ...toParts(reply), finish_reason: 'stop' }]),
  });
  const tools = (reply.tool_calls ?? []).map(({ function: call }) =>
    createSpan(
      'execute_tool',
      startMs,
      endMs,
      {
        'gen_ai.conversation.id': CONVERSATION,
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.arguments': call.arguments,
        'gen_ai.tool.call.result': JSON.stringify(call.result),
      },
      turn,
    ),
  );
  return [turn, ...tools];
}

const toParts = ({ role, content }: { role: string; content: string }): object => ({
  role,
  parts: [{ type: 'text', content }],
});

/** Shows the transcript and the audio of a call. Returns whether all checks passed. */
function showCall({ transcript, report }: CheckResult, out: Terminal): boolean {
  const call = transcript.exchanges.find(({ step }) => step === 'conversation');
  const summary = report.calls?.find(({ exchange }) => exchange === call?.id);
  const latenciesMs = summary?.turnResponsesMs ?? [];
  for (const [index, { user, agent }] of (call ? turnsOf(call) : []).entries()) {
    const latencyMs = latenciesMs[index];
    const latency = latencyMs === undefined ? '' : `  ${Math.round(latencyMs)} ms`;
    writeRow(out, 'user', user);
    writeRow(out, 'agent', agent + out.style('dim', latency));
  }
  if (!summary || summary.packets === 0) {
    out.write(`   ${out.style('red', 'No audio arrived.')}\n`);
    return false;
  }
  const { soundMs, packets, lost } = summary;
  const seconds = (soundMs / 1000).toFixed(1);
  out.write(`   Received ${seconds} s of speech in ${packets} Opus packets, ${lost} lost.\n`);
  if (report.audioLatency) {
    const lines = wrap(`Latency: ${report.audioLatency.reason}.`, out.width - 3);
    out.write(lines.map((line) => `   ${line}\n`).join(''));
  }
  const { fail = 0, error = 0 } = report.counts;
  return fail + error === 0;
}

/** Returns the turns of a call from the transcripts that the sandbox sends. */
function turnsOf({ call }: ExchangeRecord): { user: string; agent: string }[] {
  return (call?.events ?? []).flatMap(({ from, kind, text }) => {
    if (from !== 'sandbox' || kind !== 'message' || text === undefined) return [];
    const message: unknown = JSON.parse(text);
    const [user, agent] = ['user', 'agent'].map((side) =>
      resolvePointer(message, `/transcript/${side}`),
    );
    return typeof user === 'string' && typeof agent === 'string' ? [{ user, agent }] : [];
  });
}

/** Short shipped scenarios: a call takes as long as its speech. */
const scenarioOf = { chat: 'order-status', voice: 'opening-hours' } as const;

/** Starts a simulation by chat and, if this machine can speak, one by voice. They never reject. */
async function startSimulations(sandbox: string): Promise<Promise<SimulationReport | Error>[]> {
  const { isSynthesizerInstalled } = await import('../../src/voice/speech/index.ts');
  const channels = isSynthesizerInstalled() ? (['chat', 'voice'] as const) : (['chat'] as const);
  return channels.map(async (channel) => {
    try {
      const { simulate } = await import('../../src/service/index.ts');
      const set = readScenarioSet([scenarioOf[channel]]);
      return await simulate({ ...set, sandbox, channel, seed: 'demo', kitVersion: kitVersion() });
    } catch (error) {
      return toError(error);
    }
  });
}

/** Shows the turns and evals of a simulation. Returns whether it passed. */
function showSimulation(report: SimulationReport | Error, out: Terminal): boolean {
  const [session] = report instanceof Error ? [] : report.sessions;
  if (!session) {
    out.write(`   ${out.style('red', 'The simulation failed.')}\n`);
    if (report instanceof Error) writeRow(out, 'error', report.message);
    return false;
  }
  const { channel, scenario, persona, traces, turn_latency_ms: latenciesMs } = session;
  out.write(`   ${out.style('dim', `by ${channel}: ${scenario} (${persona})`)}\n`);
  for (const [index, turn] of traces.entries()) {
    writeRow(out, 'user', `${turn.user_input}  (${turn.user_reason})`);
    for (const { name } of turn.tool_calls ?? []) writeRow(out, 'tool', name);
    const latency = channel === 'voice' ? `  ${Math.round(latenciesMs[index] ?? 0)} ms` : '';
    writeRow(out, 'agent', `${turn.agent_response}${latency}`);
  }
  for (const { eval_name: name, outcome } of session.eval_outcomes) {
    writeOutcome(out, outcome, name);
  }
  if (session.error !== undefined) writeRow(out, 'error', session.error);
  return session.verdict === 'passed';
}

const nextSteps: readonly (readonly [command: string, effect: string])[] = [
  ['check URL', 'Check your sandbox'],
  ['agent', 'Start a sandbox to build against'],
  ['simulate URL', 'Let simulated users talk to your sandbox'],
  ['serve', 'Run the service on this machine'],
  ['selftest', 'Prove that the checks detect every planted fault'],
  ['explain', 'List every requirement'],
];

function describeNextSteps(program: string): string {
  const width = Math.max(...nextSteps.map(([command]) => command.length));
  const lines = nextSteps.map(
    ([command, effect]) => `  ${program} ${command.padEnd(width)}  ${effect}\n`,
  );
  return `Next steps:\n${lines.join('')}`;
}

function describeServers(
  urls: { agent: string; mutant: string; admin: string },
  program: string,
): string {
  return `The servers run until Ctrl-C:
  ${urls.agent}/health               health of the sandbox
  ${urls.agent}/__admin/requests     requests to the sandbox
  ${urls.admin}/ingest-log   ingest log of the service
  ${program} check ${urls.mutant}   check of the sandbox with a fault
`;
}
