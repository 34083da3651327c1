/** AI SDK 6 with its own telemetry. The cure is AI SDK 7. */
import { createOpenAI } from 'ai-sdk-openai-3';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai6';
import { INSTRUCTIONS, converse, isCured, openAi, orderTool, startTracing } from './setup.mjs';

if (isCured) {
  await import('./ai-7.mjs');
} else {
  const provider = startTracing();
  const openai = createOpenAI(openAi);
  const messages = [];
  await converse(async (question) => {
    messages.push({ role: 'user', content: question });
    const { response } = await generateText({
      model: openai.chat('model-1'),
      system: INSTRUCTIONS,
      messages,
      tools: {
        find_order: tool({ ...orderTool, inputSchema: jsonSchema(orderTool.parameters) }),
      },
      stopWhen: stepCountIs(5),
      experimental_telemetry: { isEnabled: true, functionId: 'shop' },
    });
    messages.push(...response.messages);
  });
  await provider.shutdown();
}
