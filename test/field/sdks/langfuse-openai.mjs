/** An OpenAI client that Langfuse observes. The cure adds the instrumentation of Traceloop. */
import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai';
import { OpenAI } from 'openai';
import { runLoop } from './openai-loop.mjs';
import { createExporter, isCured, openAi, startTracing } from './setup.mjs';

const exporter = createExporter();
const langfuse = new LangfuseSpanProcessor({ exporter, shouldExportSpan: () => true });
const provider = startTracing({ processors: [langfuse] });
if (isCured) {
  const instrumentation = new OpenAIInstrumentation();
  instrumentation.setTracerProvider(provider);
  instrumentation.manuallyInstrument(OpenAI);
}
await runLoop(observeOpenAI(new OpenAI(openAi)));
await provider.shutdown();
