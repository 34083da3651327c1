/** An OpenAI client with the instrumentation of OpenInference. The cure is another instrumentation. */
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { OpenAI } from 'openai';
import { runLoop } from './openai-loop.mjs';
import { isCured, openAi, startTracing } from './setup.mjs';

if (isCured) {
  await import('./traceloop-openai.mjs');
} else {
  const provider = startTracing();
  const instrumentation = new OpenAIInstrumentation({ tracerProvider: provider });
  instrumentation.manuallyInstrument(OpenAI);
  await runLoop(new OpenAI(openAi));
  await provider.shutdown();
}
