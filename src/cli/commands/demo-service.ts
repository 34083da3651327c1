import { serviceApiKeyHeader } from '../../contract/index.ts';
import { ROOT_CONTEXT, SpanKind, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { isMessage, type ChatMessage, type ChatResponse } from '../../contract/index.ts';
import { wrap } from '../../report-kit/terminal.ts';
import type { Terminal } from '../output/terminal.ts';

type ServiceWing = typeof import('../../service/index.ts');

/** A service that the demo has started. */
export type DemoService = Awaited<ReturnType<ServiceWing['startService']>>;

const CONVERSATION = 'demo-conversation';
const lines = ['Where is my order A-1001?', 'And what are your opening hours?'];

/** Starts a service that scores by two evals of its own. */
export async function startDemoService(): Promise<DemoService> {
  const { startService } = await import('../../service/index.ts');
  return startService({
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
          name: 'Tells the opening hours',
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
 * Has a conversation with an agent, sends its traces with OpenTelemetry's own exporter, closes it
 * and reads what it was scored; where the service is kept, it says which page shows it. True when both
 * evals passed.
 */
export async function tellTheService(
  service: DemoService,
  agentUrl: string,
  { out, keep }: { out: Terminal; keep: boolean },
): Promise<boolean> {
  const headers = { [serviceApiKeyHeader]: service.apiKey };
  const exporter = new OTLPTraceExporter({ url: `${service.url}/v1/traces`, headers });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'demo-agent' }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  await converse(provider.getTracer('demo'), agentUrl);
  await provider.shutdown();
  out.write(`   sent   ${lines.length} turns by OTLP, conversation ${CONVERSATION}\n`);

  const end = `${service.url}/v1/sessions/${CONVERSATION}/end`;
  const closed = await fetch(end, { method: 'POST', headers });
  if (!isMessage('ClosedConversation', await closed.json())) return false;
  await fetch(`${service.adminUrl}/drain`, { method: 'POST' });
  const answer = await fetch(`${service.url}/api/prod-evaluations/sessions/`, { headers });
  const page: unknown = await answer.json();
  if (!isMessage('ProductionSessionPage', page)) return false;
  const [session] = page.items;
  for (const { eval_name, outcome, reasoning } of session?.eval_outcomes ?? []) {
    const color = outcome === 'pass' ? 'green' : 'red';
    const [first = '', ...more] = wrap(`${eval_name}: ${reasoning}`, out.width - 10);
    const lines = [`   ${out.style(color, outcome)}   ${first}`, ...more.map(indented)];
    out.write(`${lines.join('\n')}\n`);
  }
  // It ends with the demo, and its pages with it.
  if (keep) out.write(`   page   ${session?.url ?? ''}\n`);
  return session?.outcome_summary.passed_count === 2;
}

const indented = (line: string): string => `${' '.repeat(10)}${line}`;

/** Each turn as an instrumentation tells it: the whole history in, the reply out. */
async function converse(tracer: Tracer, agentUrl: string): Promise<void> {
  const history: ChatMessage[] = [];
  for (const line of lines) {
    history.push({ role: 'user', content: line });
    const span = tracer.startSpan('chat', { kind: SpanKind.CLIENT });
    const reply = await ask(agentUrl, history);
    const [choice] = reply.choices;
    span.setAttributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': CONVERSATION,
      'gen_ai.request.model': 'reference',
      'gen_ai.input.messages': JSON.stringify(history.map(toParts)),
      'gen_ai.output.messages': JSON.stringify([
        { ...toParts(choice.message), finish_reason: 'stop' },
      ]),
    });
    for (const { function: ran } of choice.message.tool_calls ?? []) {
      tracer
        .startSpan('execute_tool', {}, trace.setSpan(ROOT_CONTEXT, span))
        .setAttributes({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.conversation.id': CONVERSATION,
          'gen_ai.tool.name': ran.name,
          'gen_ai.tool.call.arguments': ran.arguments,
          'gen_ai.tool.call.result': JSON.stringify(ran.result),
        })
        .end();
    }
    span.end();
    history.push({ role: 'assistant', content: choice.message.content });
  }
}

const toParts = ({ role, content }: { role: string; content: string }): object => ({
  role,
  parts: [{ type: 'text', content }],
});

async function ask(agentUrl: string, messages: ChatMessage[]): Promise<ChatResponse> {
  const answer = await fetch(`${agentUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages, session_id: CONVERSATION }),
  });
  const reply: unknown = await answer.json();
  if (!isMessage('ChatResponse', reply)) throw new Error('the agent gave no chat response');
  return reply;
}
