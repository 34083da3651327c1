/** What all programs share: the dialog, the tool, and OpenTelemetry with a real exporter. */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

export { context, propagation, trace };

/** The user messages of the two turns. */
export const questions = process.env.QUESTIONS.split('\n');

/** The URL of the model's API, without `/v1`. */
export const modelUrl = process.env.MODEL_URL;

/** The settings of an OpenAI client. */
export const openAi = { baseURL: `${modelUrl}/v1`, apiKey: 'a-key' };

/** Whether to apply the cure that the service recommends. */
export const isCured = process.env.CURED === 'yes';

export const INSTRUCTIONS = 'You help with orders.';

/** The only tool, with its parameters as a JSON Schema. */
export const orderTool = {
  name: 'find_order',
  description: 'Finds an order.',
  parameters: {
    type: 'object',
    properties: { order_id: { type: 'string' } },
    required: ['order_id'],
    additionalProperties: false,
  },
  execute: ({ order_id }) => ({ order_id, status: 'shipped' }),
};

export const conversationId = process.env.CONVERSATION_ID;

/** Where to send spans, with the id of the conversation as a header. */
export const exporterSettings = {
  endpoint: process.env.TRACES_URL,
  headers: {
    'x-service-api-key': process.env.SERVICE_API_KEY,
    'x-conversation-id': conversationId,
  },
};

/** Creates an exporter that sends to the service. */
export function createExporter() {
  const { endpoint: url, headers } = exporterSettings;
  return new OTLPTraceExporter({ url, headers });
}

/** Registers OpenTelemetry for the process, as the SDK for Node does. */
export function startTracing({ processors = [], exporter = createExporter(), ...more } = {}) {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'shop',
      'telemetry.sdk.language': 'nodejs',
    }),
    spanProcessors: [...processors, new BatchSpanProcessor(exporter)],
    ...more,
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return provider;
}

/** Asks each question in turn. Each `ask` is one turn of the user. */
export async function converse(ask) {
  for (const question of questions) await ask(question);
}
