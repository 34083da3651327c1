/** Starts the sandbox with its voice endpoint; tests use port 0, which selects a free port. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createApp } from './app.js';
import { attachVoice } from './voice.js';

/** @param {{ port: number, host?: string, apiKey?: string | undefined }} options */
export async function startSandbox({ port, host = '127.0.0.1', apiKey }) {
  const server = createServer(createApp(apiKey, { webrtc_status: 'operational' }));
  const voice = attachVoice(server, apiKey);
  server.listen(port, host);
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://${host}:${address.port}`,
    /** Ends the calls, and resolves when the open requests are finished. */
    async stop() {
      voice.stop();
      server.close();
      await once(server, 'close');
    },
  };
}
