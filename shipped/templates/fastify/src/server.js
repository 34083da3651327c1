/** Starts the sandbox; tests use port 0, which selects a free port. */
import { createApp } from './app.js';

/** @param {{ port: number, host?: string, apiKey?: string | undefined }} options */
export async function startSandbox({ port, host = '127.0.0.1', apiKey }) {
  const app = createApp(apiKey);
  return {
    url: await app.listen({ port, host }),
    /** Stops listening, and resolves when the open requests are finished. */
    stop: () => app.close(),
  };
}
