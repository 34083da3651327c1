/** VoltAgent with its own telemetry. */
import { registerHooks } from 'node:module';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createOpenAI } from 'ai-sdk-openai-3';
import { z } from 'zod';
import { INSTRUCTIONS, converse, createExporter, isCured, openAi, orderTool } from './setup.mjs';

// It needs AI SDK 6 under the name ai.
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'ai' ? 'ai6' : specifier, context),
});
const { Agent, VoltAgentObservability, createTool } = await import('@voltagent/core');

const asMessages = (role, content) =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

/** Sets the attributes of the GenAI conventions on the spans of turns and tools. */
const convertSpans = {
  onStart() {},
  onEnd({ attributes }) {
    const { input, output } = attributes;
    if (attributes['tool.name'] !== undefined) {
      attributes['gen_ai.operation.name'] = 'execute_tool';
      attributes['gen_ai.tool.name'] = attributes['tool.name'];
      attributes['gen_ai.tool.call.arguments'] = input;
      attributes['gen_ai.tool.call.result'] = output;
    } else if (attributes['agent.messages'] !== undefined) {
      attributes['gen_ai.operation.name'] = 'invoke_agent';
      attributes['gen_ai.input.messages'] = asMessages('user', input);
      attributes['gen_ai.output.messages'] = asMessages('assistant', output);
    }
  },
  forceFlush: async () => {},
  shutdown: async () => {},
};
const exportSpans = new BatchSpanProcessor(createExporter());
const observability = new VoltAgentObservability({
  serviceName: 'shop',
  spanProcessors: isCured ? [convertSpans, exportSpans] : [exportSpans],
});
const agent = new Agent({
  name: 'Shop',
  instructions: INSTRUCTIONS,
  model: createOpenAI(openAi).chat('model-1'),
  tools: [
    createTool({
      name: orderTool.name,
      description: orderTool.description,
      parameters: z.object({ order_id: z.string() }),
      execute: async (input) => orderTool.execute(input),
    }),
  ],
  observability,
});
await converse((question) => agent.generateText(question, { userId: 'u', conversationId: 'c' }));
await observability.shutdown();
process.exit(); // Its model registry keeps a timer.
