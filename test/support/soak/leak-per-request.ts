/** Leaks 4 kB for each request to a server of this process: shows that a long run finds a leak. */
import { subscribe } from 'node:diagnostics_channel';

/** An array of numbers takes 8 bytes for each. */
const NUMBERS = 500;
const leaked: number[][] = [];

subscribe('http.server.request.start', () => {
  leaked.push(Array.from({ length: NUMBERS }, (_, nth) => leaked.length + nth / 2));
});
