/** AI SDK 7 with @ai-sdk/otel and chat completions. */
import { OpenTelemetry } from '@ai-sdk/otel';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, registerTelemetry, tool } from 'ai';
import { INSTRUCTIONS, converse, openAi, orderTool, startTracing } from './setup.mjs';

const provider = startTracing();
registerTelemetry(new OpenTelemetry());
const openai = createOpenAI(openAi);
const messages = [];
await converse(async (question) => {
  messages.push({ role: 'user', content: question });
  const { response } = await generateText({
    model: openai.chat('model-1'),
    instructions: INSTRUCTIONS,
    messages,
    tools: {
      find_order: tool({ ...orderTool, inputSchema: jsonSchema(orderTool.parameters) }),
    },
    stopWhen: isStepCount(5),
    telemetry: { functionId: 'shop' },
  });
  messages.push(...response.messages);
});
await provider.shutdown();
