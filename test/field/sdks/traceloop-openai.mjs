/** An OpenAI client with the instrumentation of Traceloop. */
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai';
import { OpenAI } from 'openai';
import { runLoop } from './openai-loop.mjs';
import { openAi, startTracing } from './setup.mjs';

const provider = startTracing();
const instrumentation = new OpenAIInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);
await runLoop(new OpenAI(openAi));
await provider.shutdown();
