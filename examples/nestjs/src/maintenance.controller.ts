import { RequireRole } from '@leasehold/nestjs';
import { Body, Controller, Get, Inject, type MessageEvent, Post, ServiceUnavailableException, Sse } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Maintenance, type Run } from './maintenance.service.ts';
import { COPY } from './settings.ts';

/** Every copy takes these requests, and the holder answers them. */
@Controller('maintenance')
export class MaintenanceController {
  @Inject(Maintenance) readonly maintenance!: Maintenance;

  @Sse('events')
  events(): Observable<MessageEvent> {
    return this.maintenance.events();
  }

  @Post('runs')
  async run(@Body() body: { note?: string } | undefined): Promise<Run> {
    const run = await this.maintenance.run(body?.note ?? 'by hand');
    // The role left between the proxy's look and this one.
    if (run === undefined) throw new ServiceUnavailableException();
    return run;
  }
}

/** Not forwarded: of the copy that is asked. */
@Controller()
export class StatusController {
  @Inject(Maintenance) readonly maintenance!: Maintenance;

  @Get('who')
  who(): { label: string } {
    return { label: COPY };
  }

  @Get('internal/last-run')
  @RequireRole('maintenance')
  lastRun(): Run | null {
    return this.maintenance.last;
  }
}
