/** Runs the sandbox until SIGINT or SIGTERM. */
import { startSandbox } from './server.js';

const { PORT = '8080', HOST = '127.0.0.1', API_KEY } = process.env;

const sandbox = await startSandbox({
  port: Number(PORT),
  host: HOST,
  apiKey: API_KEY || undefined,
});
console.log(`The sandbox listens at ${sandbox.url}`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => sandbox.stop());
