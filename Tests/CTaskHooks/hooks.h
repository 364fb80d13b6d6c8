// Swift's runtime calls this function, if it is set, with each job that has no executor of its own (Swift's TaskHooks.h).
extern __attribute__((swift_attr("nonisolated(unsafe)"))) void *swift_task_enqueueGlobal_hook;
