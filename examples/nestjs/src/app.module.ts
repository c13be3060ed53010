import { LeaseholdModule } from '@leasehold/nestjs';
import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { DatabaseModule, POOL } from './database.module.ts';
import { MaintenanceController, StatusController } from './maintenance.controller.ts';
import { Maintenance } from './maintenance.service.ts';

import type pg from 'pg';

/** One copy of the application. Start as many as you like: at any moment one of them holds `maintenance`. */
@Module({
  imports: [
    DatabaseModule,
    LeaseholdModule.forRootAsync({
      imports: [DatabaseModule],
      inject: [POOL],
      useFactory: (pool: pg.Pool) => ({
        pool,
        leaseDuration: '3s',
        // Every copy takes these requests, and the holder answers them.
        proxy: [{ role: 'maintenance', prefixes: ['/maintenance'], onRoleChange: 'close' }],
      }),
      roles: ['maintenance'],
    }),
    ScheduleModule.forRoot(),
  ],
  controllers: [MaintenanceController, StatusController],
  providers: [Maintenance],
})
export class AppModule {}
