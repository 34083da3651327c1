/** An OpenAI client with the instrumentation of OpenTelemetry. The cure is another instrumentation. */
import { isCured, openAi, startTracing } from './setup.mjs';

if (isCured) {
  await import('./traceloop-openai.mjs');
} else {
  const { OpenAIInstrumentation } = await import('@opentelemetry/instrumentation-openai');
  const { runLoop } = await import('./openai-loop.mjs');
  const provider = startTracing();
  const instrumentation = new OpenAIInstrumentation({ captureMessageContent: true });
  instrumentation.setTracerProvider(provider);
  // It patches only a module with the name openai, which is version 7 here.
  const [definition] = instrumentation.getModuleDefinitions();
  const { OpenAI } = definition.patch({ ...(await import('openai-6')) }, '6.49.0');
  await runLoop(new OpenAI(openAi));
  await provider.shutdown();
}
