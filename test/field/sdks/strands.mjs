/** Strands Agents with chat completions. The cure is the setting of OpenTelemetry's conventions. */
import { INSTRUCTIONS, converse, isCured, openAi, orderTool, startTracing } from './setup.mjs';

if (isCured) {
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN =
    'gen_ai_latest_experimental,gen_ai_span_attributes_only';
}
const { Agent, FunctionTool } = await import('@strands-agents/sdk');
const { OpenAIModel } = await import('@strands-agents/sdk/models/openai');

const provider = startTracing();
const { name, description, parameters: inputSchema, execute: callback } = orderTool;
const { apiKey, ...clientConfig } = openAi;
const agent = new Agent({
  model: new OpenAIModel({ api: 'chat', modelId: 'model-1', apiKey, clientConfig }),
  systemPrompt: INSTRUCTIONS,
  tools: [new FunctionTool({ name, description, inputSchema, callback })],
  printer: false,
});
await converse((question) => agent.invoke(question));
await provider.shutdown();
