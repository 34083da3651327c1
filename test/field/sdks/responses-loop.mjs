/** The tool loop that people write around an OpenAI client, with the Responses API. */
import { INSTRUCTIONS, converse, orderTool } from './setup.mjs';

const { execute, ...schema } = orderTool;
const tools = [{ type: 'function', strict: true, ...schema }];

/** Runs the dialog with a client. */
export async function runResponsesLoop(client) {
  const input = [];
  const callModel = async () => {
    const request = { model: 'model-1', instructions: INSTRUCTIONS, input, tools };
    const { output } = await client.responses.create(request);
    input.push(...output);
    return output.filter(({ type }) => type === 'function_call');
  };
  await converse(async (question) => {
    input.push({ role: 'user', content: question });
    for (let calls = await callModel(); calls.length > 0; calls = await callModel()) {
      for (const call of calls) {
        const output = JSON.stringify(execute(JSON.parse(call.arguments)));
        input.push({ type: 'function_call_output', call_id: call.call_id, output });
      }
    }
  });
}
