/** Mastra with its own exporter for OpenTelemetry. */
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { OtelExporter } from '@mastra/otel-exporter';
import { createOpenAI } from 'ai-sdk-openai-3';
import { z } from 'zod';
import { INSTRUCTIONS, converse, exporterSettings, isCured, openAi, orderTool } from './setup.mjs';

const exporter = new OtelExporter({
  provider: { custom: { ...exporterSettings, protocol: 'http/json' } },
  signals: { logs: false },
});
// Model calls have no input, but the steps that contain them do.
const copyInput = {
  name: 'copy-input',
  process(span) {
    if (span?.type === 'model_inference') span.input ??= span.parent?.input;
    return span;
  },
  shutdown: async () => {},
};
const spanOutputProcessors = isCured ? [copyInput] : [];
const findOrder = createTool({
  id: orderTool.name,
  description: orderTool.description,
  inputSchema: z.object({ order_id: z.string() }),
  execute: async (input) => orderTool.execute(input),
});
const agent = new Agent({
  id: 'shop',
  name: 'Shop',
  instructions: INSTRUCTIONS,
  model: createOpenAI(openAi).chat('model-1'),
  tools: { find_order: findOrder },
});
const mastra = new Mastra({
  agents: { shop: agent },
  logger: false,
  observability: new Observability({
    configs: { otel: { serviceName: 'shop', exporters: [exporter], spanOutputProcessors } },
  }),
});
const messages = [];
await converse(async (question) => {
  messages.push({ role: 'user', content: question });
  const { text } = await mastra.getAgent('shop').generate(messages);
  messages.push({ role: 'assistant', content: text });
});
await mastra.shutdown();
