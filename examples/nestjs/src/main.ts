import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.ts';
import { COPY, PORT } from './settings.ts';

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['warn', 'error'] });
app.useStaticAssets(fileURLToPath(new URL('../public', import.meta.url)));
// At a signal the role is given back, and another copy takes it at once.
app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
await app.listen(PORT, '127.0.0.1');
console.log(`${COPY} listens on ${await app.getUrl()}`);
