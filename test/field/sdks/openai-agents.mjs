/** OpenAI Agents with the instrumentation of Traceloop for its OpenAI client. */
import { Agent, Runner, setDefaultOpenAIClient, setOpenAIAPI, tool } from '@openai/agents';
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai';
import { OpenAI } from 'openai';
import { INSTRUCTIONS, converse, isCured, openAi, orderTool, startTracing } from './setup.mjs';

const provider = startTracing();
const instrumentation = new OpenAIInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);
setDefaultOpenAIClient(new OpenAI(openAi));
if (isCured) setOpenAIAPI('chat_completions');

const agent = new Agent({
  name: 'Shop',
  instructions: INSTRUCTIONS,
  model: 'model-1',
  tools: [tool({ ...orderTool, strict: true })],
});
const runner = new Runner({ tracingDisabled: true });
let history = [];
await converse(async (question) => {
  const result = await runner.run(agent, [...history, { role: 'user', content: question }]);
  history = result.history;
});
await provider.shutdown();
