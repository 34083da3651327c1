/** LangGraph with the instrumentation of Traceloop. The cure instruments its OpenAI client. */
import * as callbacks from '@langchain/core/callbacks/manager';
import { LangChainInstrumentation } from '@traceloop/instrumentation-langchain';
import { runGraph } from './langgraph-agent.mjs';
import { isCured, startTracing } from './setup.mjs';

if (isCured) {
  await import('./langgraph-openinference.mjs');
} else {
  const provider = startTracing();
  const instrumentation = new LangChainInstrumentation();
  instrumentation.setTracerProvider(provider);
  instrumentation.manuallyInstrument({ callbackManagerModule: callbacks });
  await runGraph();
  await provider.shutdown();
}
