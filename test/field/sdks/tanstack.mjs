/** TanStack AI with its OpenTelemetry middleware. */
import { chat, toolDefinition } from '@tanstack/ai';
import { otelMiddleware } from '@tanstack/ai/middlewares/otel';
import { createOpenaiChat } from '@tanstack/ai-openai';
import {
  INSTRUCTIONS,
  converse,
  isCured,
  openAi,
  orderTool,
  startTracing,
  trace,
} from './setup.mjs';

const provider = startTracing();
const { name, description, parameters: inputSchema, execute } = orderTool;
const tools = [toolDefinition({ name, description, inputSchema }).server(execute)];
const tracer = trace.getTracer('shop');

/** Makes the spans of tools readable, from the messages that they capture. */
function onSpanEnd({ kind }, span) {
  if (kind !== 'tool') return;
  const readContent = (key) => JSON.parse(span.attributes[key])[0].content;
  span.setAttributes({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.call.arguments': readContent('gen_ai.input.messages'),
    'gen_ai.tool.call.result': readContent('gen_ai.output.messages'),
  });
}
const options = isCured ? { captureContent: true, onSpanEnd } : {};
const messages = [];
await converse(async (question) => {
  messages.push({ role: 'user', content: question });
  const content = await chat({
    adapter: createOpenaiChat('model-1', openAi.apiKey, { baseURL: openAi.baseURL }),
    systemPrompts: [INSTRUCTIONS],
    messages,
    tools,
    stream: false,
    middleware: [otelMiddleware({ tracer, ...options })],
  });
  messages.push({ role: 'assistant', content });
});
await provider.shutdown();
