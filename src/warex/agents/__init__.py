"""Programs that are run as a stranger's would be: the reference agent and the scripted model.

They import no other room. What they learn about faults they learn as anybody does: from the page.
"""
