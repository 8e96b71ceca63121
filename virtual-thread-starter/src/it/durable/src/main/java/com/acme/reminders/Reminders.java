package com.acme.reminders;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.time.Instant;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
public class Reminders {

    private static final TaskDescriptor<Integer> REMINDER = TaskDescriptor.of("reminder", Integer.class);

    @Bean
    Task<Integer> reminder(ReminderMails mails) {
        return Tasks.oneTime(REMINDER).execute((instance, context) -> mails.send(instance.getData()));
    }

    /** Is kept if the transaction of its caller commits. */
    public static void remind(SchedulerClient scheduler, int number, Instant when) {
        scheduler.scheduleIfNotExists(
                REMINDER.instance(String.valueOf(number)).data(number).scheduledTo(when));
    }
}
