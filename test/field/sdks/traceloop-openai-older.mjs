/** An OpenAI client with an older instrumentation of Traceloop. The cure is the current one. */
import { OpenAI } from 'openai';
import { OpenAIInstrumentation } from 'traceloop-instrumentation-openai-old';
import { runLoop } from './openai-loop.mjs';
import { isCured, openAi, startTracing } from './setup.mjs';

if (isCured) {
  await import('./traceloop-openai.mjs');
} else {
  const provider = startTracing();
  const instrumentation = new OpenAIInstrumentation();
  instrumentation.setTracerProvider(provider);
  instrumentation.manuallyInstrument(OpenAI);
  await runLoop(new OpenAI(openAi));
  await provider.shutdown();
}
