/** LangGraph with the instrumentation of OpenInference. The cure instruments its OpenAI client. */
import * as callbacks from '@langchain/core/callbacks/manager';
import { OpenAI } from 'openai';
import { runGraph } from './langgraph-agent.mjs';
import { isCured, startTracing } from './setup.mjs';

const provider = startTracing();
if (isCured) {
  const { OpenAIInstrumentation } = await import('@traceloop/instrumentation-openai');
  const instrumentation = new OpenAIInstrumentation();
  instrumentation.setTracerProvider(provider);
  instrumentation.manuallyInstrument(OpenAI);
} else {
  const { LangChainInstrumentation } =
    await import('@arizeai/openinference-instrumentation-langchain');
  const instrumentation = new LangChainInstrumentation({ tracerProvider: provider });
  instrumentation.manuallyInstrument(callbacks);
}
await runGraph();
await provider.shutdown();
