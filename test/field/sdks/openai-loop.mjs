/** The tool loop that people write around an OpenAI client, with chat completions. */
import { INSTRUCTIONS, converse, orderTool } from './setup.mjs';

const { execute, ...schema } = orderTool;
const tools = [{ type: 'function', function: schema }];

/** Runs the dialog with a client. */
export async function runLoop(client) {
  const messages = [{ role: 'system', content: INSTRUCTIONS }];
  const callModel = async () => {
    const { choices } = await client.chat.completions.create({ model: 'model-1', messages, tools });
    const { message } = choices[0];
    messages.push(message);
    return message.tool_calls ?? [];
  };
  await converse(async (question) => {
    messages.push({ role: 'user', content: question });
    for (let calls = await callModel(); calls.length > 0; calls = await callModel()) {
      for (const call of calls) {
        const result = execute(JSON.parse(call.function.arguments));
        const content = JSON.stringify(result);
        messages.push({ role: 'tool', tool_call_id: call.id, content });
      }
    }
  });
}
