/** Google ADK with a Gemini model. The cure converts its spans where they are exported. */
import {
  INSTRUCTIONS,
  conversationId,
  converse,
  isCured,
  modelUrl,
  orderTool,
  startTracing,
} from './setup.mjs';
import { z } from 'zod';

const convertPart = ({ text, functionCall: call, functionResponse }) => {
  if (call) return { type: 'tool_call', name: call.name, arguments: call.args };
  if (!functionResponse) return { type: 'text', content: text };
  return { type: 'tool_call_response', response: functionResponse.response };
};
const convertContents = (contents) =>
  JSON.stringify(contents.map(({ role, parts }) => ({ role, parts: parts.map(convertPart) })));

/** Sets the attributes of the GenAI conventions on model calls. */
const convertSpans = {
  onStart() {},
  onEnd({ name, attributes }) {
    if (name !== 'call_llm') return;
    const { contents } = JSON.parse(attributes['gcp.vertex.agent.llm_request']);
    const { content } = JSON.parse(attributes['gcp.vertex.agent.llm_response']);
    attributes['gen_ai.operation.name'] = 'chat';
    attributes['gen_ai.input.messages'] = convertContents(contents);
    attributes['gen_ai.output.messages'] = convertContents([content]);
  },
  forceFlush: async () => {},
  shutdown: async () => {},
};

const provider = startTracing({ processors: isCured ? [convertSpans] : [] });
process.env.GOOGLE_GEMINI_BASE_URL = modelUrl;
// It gets its tracer when it is imported.
const { FunctionTool, Gemini, InMemoryRunner, LlmAgent } = await import('@google/adk');
const agent = new LlmAgent({
  name: 'shop',
  model: new Gemini({ model: 'model-1', apiKey: 'a-key' }),
  instruction: INSTRUCTIONS,
  tools: [new FunctionTool({ ...orderTool, parameters: z.object({ order_id: z.string() }) })],
});
const runner = new InMemoryRunner({ agent, appName: 'shop' });
// Its spans have the id of the session as gen_ai.conversation.id.
const ids = { userId: 'u', sessionId: conversationId };
await runner.sessionService.createSession({ appName: 'shop', ...ids });
await converse(async (question) => {
  const newMessage = { role: 'user', parts: [{ text: question }] };
  const run = runner.runAsync({ ...ids, newMessage });
  for await (const event of run) void event;
});
await provider.shutdown();
